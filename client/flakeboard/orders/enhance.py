"""Schedules that keep dependencies: setters are added and go ahead, victims go ahead of what pollutes them.

After enhanceOrder (Lam 2020b, figure 7.2). Real dependencies are neither minimal nor free of cycles, so that ours
chooses between setters, uses cleaners, and names what it leaves out."""

from __future__ import annotations

from typing import Iterable, Mapping, NamedTuple, Sequence

from flakeboard.orders.constraints import Constraints, LeftOut
from flakeboard.orders.dependencies import Dependency
from flakeboard.orders.outcomes import broken
from flakeboard.orders.suite import Suite

CONTRADICTED = "the order in which all passed does not keep it"
UNKNOWN = "a test that it needs is not in the suite"
MOST_GATHERED = 100
"""Split units that are tried to be moved as a whole; further ones are only named."""


class Enhanced(NamedTuple):
    """A schedule that keeps dependencies, and what it took."""

    order: list[int]
    added: list[int]
    """Tests that were not chosen but are needed by tests that were."""
    moved: list[int]
    """Chosen tests that now run ahead of others that were ahead of them."""
    left_out: list[LeftOut]
    avoids: list[tuple[int, Dependency]]
    """Tests that would have failed in the given order, each with a dependency that it broke."""
    remain: list[tuple[int, Dependency]]
    """Tests that fail in this order all the same."""
    split: list[tuple[str, ...]]
    """Units that were whole in the given order and are not any more."""


def enhance(
    chosen: Sequence[int],
    dependencies: Iterable[Dependency],
    original: Sequence[int],
    seconds: Mapping[int, float] | Sequence[float] | None = None,
    suite: Suite | None = None,
) -> Enhanced:
    """The chosen tests in an order that keeps the dependencies; `original` is the newest order in which all passed."""
    given = list(dict.fromkeys(chosen))
    believed, left_out = _believed(list(dependencies), given, original)
    solved = Constraints(given, believed, original, seconds).solve()
    order, split = (solved.order, []) if suite is None else _gathered(suite, given, solved.order, believed)
    before, after = _failing(given, believed), _failing(order, believed)
    return Enhanced(
        order,
        sorted(solved.added, key={test: place for place, test in enumerate(order)}.__getitem__),
        _moved(given, order),
        left_out + solved.left_out,
        [(test, dependency) for test, dependency in before.items() if test not in after],
        list(after.items()),
        split,
    )


def _believed(
    dependencies: list[Dependency], chosen: Sequence[int], original: Sequence[int]
) -> tuple[list[Dependency], list[LeftOut]]:
    """Without dependencies that the passing order refutes, and those whose tests are gone."""
    contradicted = set(broken(original, dependencies))
    present = {*chosen, *original}
    believed, left_out = [], []
    for dependency in dependencies:
        if dependency in contradicted:
            left_out.append(LeftOut(dependency, CONTRADICTED))
        elif (
            not dependency.before or dependency.after in dependency.before or not present.issuperset(dependency.before)
        ):
            left_out.append(LeftOut(dependency, UNKNOWN))
        else:
            believed.append(dependency)
    return believed, left_out


def _failing(order: Sequence[int], dependencies: Sequence[Dependency]) -> dict[int, Dependency]:
    """Tests that the order makes fail, each with the first dependency that says so."""
    failing: dict[int, Dependency] = {}
    for dependency in broken(order, dependencies):
        failing.setdefault(dependency.after, dependency)
    return failing


def _moved(chosen: Sequence[int], order: Sequence[int]) -> list[int]:
    """Chosen tests that run before a test which was chosen ahead of them has run."""
    place = {test: number for number, test in enumerate(chosen)}
    moved, waiting = [], 0
    done = set()
    for test in order:
        if test not in place:
            continue
        done.add(test)
        while waiting < len(chosen) and chosen[waiting] in done:
            waiting += 1
        if place[test] > waiting:
            moved.append(test)
    return moved


def _gathered(
    suite: Suite, chosen: Sequence[int], order: list[int], dependencies: Sequence[Dependency]
) -> tuple[list[int], list[tuple[str, ...]]]:
    """Units that enhancing split are moved as a whole, to their first or last test, if dependencies allow it."""
    still_whole = _whole_units(suite, order)
    split = [path for path in _whole_units(suite, chosen) if path not in still_whole]
    broken_before = set(broken(order, dependencies)) if split else set()
    named = []
    for number, path in enumerate(sorted(split, key=len, reverse=True)):
        tests = [test for test in order if suite.cases[test].units[: len(path)] == path]
        for edge in (tests[0], tests[-1]) if number < MOST_GATHERED else ():
            place = order.index(edge)
            inside = set(tests)
            ahead = [test for test in order[:place] if test not in inside]
            behind = [test for test in order[place:] if test not in inside]
            moved = [*ahead, *tests, *behind]
            if broken_before.issuperset(broken(moved, dependencies)):
                order = moved
                break
        else:
            named.append(path)
    return order, named


def _whole_units(suite: Suite, order: Sequence[int]) -> dict[tuple[str, ...], None]:
    """Units whose tests are consecutive in an order."""
    spans: dict[tuple[str, ...], tuple[int, int, int]] = {}
    for step, test in enumerate(order):
        units = suite.cases[test].units
        for depth in range(1, len(units) + 1):
            first, _, count = spans.get(units[:depth], (step, step, 0))
            spans[units[:depth]] = first, step, count + 1
    return {path: None for path, (first, last, count) in spans.items() if last - first + 1 == count}
