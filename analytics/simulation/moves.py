"""Classes that move to another module: their tests continue under new numbers, with their truth."""

from collections.abc import Iterable
from dataclasses import replace

import numpy as np

from analytics.kernel.executions import Ints
from analytics.simulation.breakages import Breakage
from analytics.simulation.builds import NEVER, Plan, between
from analytics.simulation.cast import Cast, Part
from analytics.simulation.names import move_names


def move_classes(cast: Cast, count: int, plan: Plan, rng: np.random.Generator) -> Cast:
    """Move `count` classes, each at a commit of its own, except those with added or renamed tests."""
    if not count:
        return cast
    group = cast.names.group
    steady = np.setdiff1d(group, group[(cast.born > 0) | (cast.gone < NEVER)])
    if count > len(steady):
        raise ValueError(f"only {len(steady)} classes can move: ask for more suites or fewer new tests")
    for chosen in rng.choice(steady, size=count, replace=False):
        cast = _moved(cast, np.flatnonzero(group == chosen), between(plan, 0.3, 0.7, rng))
    return cast


def _moved(cast: Cast, numbers: Ints, revision: int) -> Cast:
    first = len(cast.names.tests)
    new_numbers = {int(number): first + at for at, number in enumerate(numbers)}
    gone = cast.gone.copy()
    gone[numbers] = revision
    return Cast(
        names=move_names(cast.names, numbers),
        parts=tuple(_parts(cast.parts, new_numbers, revision)),
        breakages=tuple(_breakages(cast.breakages, new_numbers, revision)),
        born=np.concatenate([cast.born, np.full(len(numbers), revision)]),
        gone=np.concatenate([gone, np.full(len(numbers), NEVER)]),
        skipped=np.concatenate([cast.skipped, cast.skipped[numbers]]),
        renames=cast.renames | new_numbers,
    )


def _parts(parts: Iterable[Part], new_numbers: dict[int, int], revision: int) -> list[Part]:
    """A flaky test is flaky under its old number until the move, and under its new one afterwards."""
    kept, new = [], []
    for part in parts:
        flake = part.flake
        if flake.number not in new_numbers:
            kept.append(part)
            continue
        if flake.since < revision:
            kept.append(replace(part, flake=replace(flake, until=min(flake.until, revision))))
        if flake.until > revision:
            moved = replace(
                flake,
                number=new_numbers[flake.number],
                since=max(flake.since, revision),
                partners=tuple(new_numbers[number] for number in flake.partners),
                cleaners=tuple(new_numbers[number] for number in flake.cleaners),
            )
            new.append(replace(part, flake=moved))
    return kept + new


def _breakages(breakages: Iterable[Breakage], new_numbers: dict[int, int], revision: int) -> list[Breakage]:
    found = []
    for breakage in breakages:
        if breakage.number not in new_numbers:
            found.append(breakage)
            continue
        before = tuple(at for at in breakage.revisions if at < revision)
        after = tuple(at for at in breakage.revisions if at >= revision)
        if before:
            found.append(
                replace(breakage, revisions=before, fixed=breakage.fixed if breakage.fixed < revision else NEVER)
            )
        if after:
            found.append(replace(breakage, number=new_numbers[breakage.number], revisions=after))
    return found
