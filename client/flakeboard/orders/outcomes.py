"""Whether an order-dependent test fails in an order, without running it (Wei 2021, definition 3.1)."""

from __future__ import annotations

from typing import Iterable, Mapping, NamedTuple, Sequence, Union

from flakeboard.orders.dependencies import POSITIVE, STATED, Dependency, end_of_group, holds, steps


class Polluter(NamedTuple):
    """Tests that together, in this order, make a victim fail, and the tests that undo what they leave."""

    group: tuple[int, ...]
    cleaners: tuple[int, ...] = ()


class Victim(NamedTuple):
    """A test that passes alone and fails behind a polluter without a cleaner in between."""

    test: int
    polluters: tuple[Polluter, ...]


class Brittle(NamedTuple):
    """A test that fails alone and passes behind one of its setters, each a group in order."""

    test: int
    setters: tuple[tuple[int, ...], ...]


OrderDependent = Union[Victim, Brittle]


def victim_of(test: int, polluters: Iterable[int], cleaners: Iterable[int] = ()) -> Victim:
    """A victim of single polluters that share their cleaners."""
    shared = tuple(cleaners)
    return Victim(test, tuple(Polluter((polluter,), shared) for polluter in polluters))


def brittle_of(test: int, setters: Iterable[int]) -> Brittle:
    """A brittle test with single setters."""
    return Brittle(test, tuple((setter,) for setter in setters))


def fails(order: Sequence[int], dependent: OrderDependent) -> bool:
    """Whether the order makes the test fail; an order without the test does not."""
    return fails_at(steps(order), dependent)


def fails_at(step: Mapping[int, int], dependent: OrderDependent) -> bool:
    """The same, for an order that is given as step by test."""
    own = step.get(dependent.test)
    if own is None:
        return False
    if isinstance(dependent, Victim):
        return polluter_at(step, dependent) is not None
    return all(end_of_group(setter, step, own) is None for setter in dependent.setters)


def polluter_at(step: Mapping[int, int], victim: Victim) -> Polluter | None:
    """The polluter that explains why the victim fails: the last one that ran before it and was not cleaned up."""
    own = step.get(victim.test, -1)
    active = {
        end: polluter
        for polluter in victim.polluters
        for end in [end_of_group(polluter.group, step, own)]
        if end is not None and not any(end < step.get(cleaner, -1) < own for cleaner in polluter.cleaners)
    }
    return active[max(active)] if active else None


def relevant(dependent: OrderDependent) -> set[int]:
    """The test and its partners; all others change nothing."""
    if isinstance(dependent, Brittle):
        return {dependent.test}.union(*dependent.setters)
    return {dependent.test}.union(*((*polluter.group, *polluter.cleaners) for polluter in dependent.polluters))


def broken(order: Sequence[int], dependencies: Iterable[Dependency]) -> list[Dependency]:
    """The dependencies that an order does not keep, as given.

    Alternatives break together, when none of them holds: then all of them are in the answer."""
    step = steps(order)
    given = list(dependencies)
    served = {each.after for each in given if is_alternative(each) and holds(each, step)}
    return [each for each in given if not holds(each, step) and not (is_alternative(each) and each.after in served)]


def is_alternative(dependency: Dependency) -> bool:
    """Whether another setter of the same test would do as well: true of what was observed, not of what is stated."""
    return dependency.sign == POSITIVE and dependency.ground != STATED
