"""Random schedules with dependencies, and enhanceOrder word by word, for cases without cycles and alternatives."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import NamedTuple

from flakeboard.orders.dependencies import NEGATIVE, POSITIVE, Dependency, holds, steps
from flakeboard.orders.enhance import Enhanced
from flakeboard.orders.outcomes import broken, is_alternative


class Schedule(NamedTuple):
    chosen: list[int]
    dependencies: list[Dependency]
    original: list[int]


def simple_schedule(random: Random) -> Schedule:
    """Single, stated dependencies that the original order keeps: so there is no cycle."""
    n = random.randint(2, 9)
    original = random.sample(range(n), n)
    dependencies = []
    for _ in range(random.randint(0, 8)):
        first, second = sorted(random.sample(range(n), 2))
        if random.random() < 0.5:
            dependencies.append(Dependency(POSITIVE, (original[first],), original[second], (), "stated"))
        else:
            dependencies.append(Dependency(NEGATIVE, (original[second],), original[first], (), "stated"))
    return Schedule(random.sample(range(n), random.randint(1, n)), dependencies, original)


def wild_schedule(random: Random) -> Schedule:
    """Groups, cleaners, alternatives, grounds and ages of all kinds, and any cycle among them."""
    n = random.randint(2, 9)
    dependencies = []
    for _ in range(random.randint(0, 9)):
        *before, after = random.sample(range(n), random.choice([2, 2, 2, min(n, 3)]))
        others = [test for test in range(n) if test not in before and test != after]
        cleaners = random.sample(others, random.randint(0, min(2, len(others))))
        sign = random.choice([POSITIVE, NEGATIVE])
        ground = random.choice(["shown", "stated", "inferred"])
        dependencies.append(
            Dependency(
                sign, tuple(before), after, tuple(cleaners) if sign == NEGATIVE else (), ground, random.randint(0, 3)
            )
        )
    # Tests that are new are in no order yet; without them the dependencies are not refuted, and cycles are possible.
    known = random.sample(range(n), random.randint(0, n))
    new = [test for test in range(n) if test not in known]
    chosen = random.sample(range(n), random.randint(1, n))
    return Schedule([*chosen, *(test for test in new if test not in chosen)], dependencies, known)


def enhanced_slowly(schedule: Schedule) -> list[int]:
    """Figure 7.2 of Lam 2020b."""
    tu, d, torig = schedule
    p = [(each.before[0], each.after) for each in d if each.sign == POSITIVE]
    n = [(each.before[0], each.after) for each in d if each.sign == NEGATIVE]
    ta: set[int] = set()
    while True:
        more = {x for x, t in p if t in ta or t in tu} - ta
        if not more:
            break
        ta |= more
    te: list[int] = []

    def add(t: int) -> None:
        b = {x for x in {*tu, *ta} if (x, t) in p or (t, x) in n}
        for x in [*(x for x in tu if x in b), *(x for x in torig if x in b and x not in tu)]:
            if x not in te:
                add(x)
        te.append(t)

    for t in tu:
        if t not in te:
            add(t)
    return te


def faults(schedule: Schedule, made: Enhanced) -> list[str]:
    """Properties that every enhanced schedule has, and that this lacks."""
    found = []
    given_up = {each.dependency for each in made.left_out}
    order = made.order
    if len(set(order)) != len(order) or not set(order) >= set(schedule.chosen):
        found.append("a chosen test is missing or twice")
    if set(order) - set(schedule.chosen) != set(made.added):
        found.append("an added test is not named")
    useful = _may_be_needed(schedule.chosen, schedule.dependencies)
    if not set(made.added) <= useful:
        found.append("a test was added that nothing needs")
    step = steps(order)
    kept = [each for each in schedule.dependencies if each not in given_up]
    for dependency in kept:
        if is_alternative(dependency):
            either = [each for each in schedule.dependencies if is_alternative(each) and each.after == dependency.after]
            if not given_up & set(either) and not any(holds(each, step) for each in either):
                found.append(f"no setter: {dependency}")
        elif not holds(dependency, step):
            found.append(f"broken: {dependency}")
    believed = [each.dependency for each in made.left_out if "cycle" in each.reason] + kept
    failing = {each.after for each in broken(order, believed)}
    if {test for test, _ in made.remain} != failing:
        found.append("what remains is not what fails")
    avoided = {each.after for each in broken(schedule.chosen, believed)} - failing
    if {test for test, _ in made.avoids} != avoided:
        found.append("what is avoided is not what would fail")
    return found


def _may_be_needed(chosen: Sequence[int], dependencies: Sequence[Dependency]) -> set[int]:
    """All setters and cleaners of chosen tests, and theirs."""
    needed = set(chosen)
    while True:
        more = {x for each in dependencies if each.after in needed for x in (*each.before, *each.cleaners)} - needed
        if not more:
            return needed
        needed |= more
