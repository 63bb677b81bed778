"""Orders drawn by a seed: uniform over the compatible orders, and stable when tests come and go.

Children are sorted by SHA-256 of the seed, the round and their own path, so that a test which is added or removed
leaves the others in their order, and a part of the suite can be run again by the same seed."""

from __future__ import annotations

import hashlib
from typing import Iterable, Sequence

from flakeboard.orders.suite import Child, Suite, Unit


def seeded_order(suite: Suite, seed: str, round: int, inside: bool = True) -> list[int]:
    """A compatible order of the whole suite; without `inside`, tests of one unit stay as in the original order."""
    order: list[int] = []
    waiting: list[Child] = [suite.root]
    while waiting:
        child = waiting.pop()
        if isinstance(child, int):
            order.append(child)
        else:
            waiting.extend(reversed(_sorted(suite, child, seed, round, inside)))
    return order


def seeded_permutation(suite: Suite, seed: str, round: int) -> list[int]:
    """Any order of all tests, units torn apart."""
    return sorted(range(len(suite)), key=lambda place: digest(seed, round, _path(suite, place)))


def digest(seed: str, round: int, path: Iterable[str]) -> bytes:
    text = "\n".join((seed, str(round), *path))
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()


def draw(below: int, *words: object) -> int:
    """A number from 0 up to `below`, drawn by SHA-256 of the words; 256 bits make the bias of `%` immaterial."""
    text = "\n".join(str(word) for word in words)
    return int.from_bytes(hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest(), "big") % below


def _path(suite: Suite, place: int) -> tuple[str, ...]:
    case = suite.cases[place]
    return (*case.units, case.id)


def _sorted(suite: Suite, unit: Unit, seed: str, round: int, inside: bool) -> Sequence[Child]:
    """The children of a unit in the order of the seed."""
    if inside:
        return sorted(
            unit.children,
            key=lambda child: digest(seed, round, _path(suite, child) if isinstance(child, int) else child.path),
        )
    blocks = sorted(blocks_of(unit), key=lambda block: digest(seed, round, _path_of_block(unit, block)))
    return [child for block in blocks for child in block]


def _path_of_block(unit: Unit, block: Sequence[Child]) -> tuple[str, ...]:
    first = block[0]
    return (*unit.path, "") if isinstance(first, int) else first.path


def blocks_of(unit: Unit) -> list[list[Child]]:
    """Units within a unit, each by itself, and the tests directly in it as one block, in original order."""
    tests: list[Child] = [child for child in unit.children if isinstance(child, int)]
    blocks: list[list[Child]] = []
    for child in unit.children:
        if not isinstance(child, int):
            blocks.append([child])
        elif child == tests[0]:
            blocks.append(tests)
    return blocks
