"""The slow twins of likeness: the same numbers by loops that anybody can check."""

from math import sqrt

Sketch = list[int]
Unit = tuple[int, int, Sketch]
"""Number, group (-1 for none), sketch (empty for none)."""


def distance(left: Sketch, right: Sketch) -> float:
    product = sum(a * b for a, b in zip(left, right, strict=True))
    return 1 - product / (sqrt(sum(a * a for a in left)) * sqrt(sum(b * b for b in right)))


def neighbours(question: Unit, examples: list[Unit], most: int = 7) -> list[tuple[float, int]]:
    number, _, sketch = question
    if not any(sketch):
        return []
    others = [other for other in examples if other[0] != number and any(other[2])]
    return sorted((max(distance(sketch, other[2]), 0.0), other[0]) for other in others)[:most]


def like(question: Unit, examples: list[Unit], flaky: set[int]) -> float | None:
    found = neighbours(question, examples)
    if not found:
        return None
    weights = {number: 1 / max(far, 0.001) for far, number in found}
    return sum(weight for number, weight in weights.items() if number in flaky) / sum(weights.values())


def beside(question: Unit, examples: list[Unit], flaky: set[int]) -> tuple[int, int, float]:
    number, group, _ = question
    near = [other[0] for other in examples if group >= 0 and other[1] == group and other[0] != number]
    base = (len(flaky) + 0.5) / (len(examples) + 1)
    ill = sum(other in flaky for other in near)
    return ill, len(near), (ill + base) / (len(near) + 1)


def score(question: Unit, examples: list[Unit], flaky: set[int]) -> float:
    nearest, near = like(question, examples, flaky), beside(question, examples, flaky)[2]
    return near if nearest is None else (nearest + near) / 2
