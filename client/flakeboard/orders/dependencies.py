"""Dependencies between tests, by their places in the original order."""

from __future__ import annotations

from typing import Mapping, NamedTuple, Sequence

POSITIVE, NEGATIVE = "positive", "negative"
SHOWN, STATED, INFERRED = "shown", "stated", "inferred"

STRENGTH = {INFERRED: 0, STATED: 1, SHOWN: 2}
"""What an experiment ran outweighs what a person says, and that outweighs what the analysis concludes."""


class Dependency(NamedTuple):
    """`after` needs the tests of `before` ahead of it (positive), or must not run behind them (negative).

    `before` is a group: all of it, in this order, is needed or pollutes. Positive dependencies of one test that are
    shown or inferred are alternatives, of which one is enough; each stated one is needed by itself."""

    sign: str
    before: tuple[int, ...]
    after: int
    cleaners: tuple[int, ...] = ()
    ground: str = SHOWN
    age: int = 0
    """In commits or days, whatever the caller counts: the larger, the longer ago it was last shown."""


def positive(before: int, after: int, ground: str = SHOWN, age: int = 0) -> Dependency:
    return Dependency(POSITIVE, (before,), after, (), ground, age)


def negative(before: int, after: int, cleaners: tuple[int, ...] = (), ground: str = SHOWN, age: int = 0) -> Dependency:
    return Dependency(NEGATIVE, (before,), after, cleaners, ground, age)


def end_of_group(group: Sequence[int], step: Mapping[int, int], below: int) -> int | None:
    """Where the last test of a group runs, if all of it runs in its order and ahead of step `below`; else None."""
    last = -1
    for test in group:
        at = step.get(test, -1)
        if at <= last or at >= below:
            return None
        last = at
    return last


def holds(dependency: Dependency, step: Mapping[int, int]) -> bool:
    """Whether an order, given as step by test, keeps a dependency; one without its second test keeps it.

    A polluting group is cleaned by a cleaner between its last test and the victim."""
    own = step.get(dependency.after)
    if own is None:
        return True
    end = end_of_group(dependency.before, step, own)
    if dependency.sign == POSITIVE:
        return end is not None
    return end is None or any(end < step.get(cleaner, -1) < own for cleaner in dependency.cleaners)


def steps(order: Sequence[int]) -> Mapping[int, int]:
    """Step by test."""
    return {test: step for step, test in enumerate(order)}
