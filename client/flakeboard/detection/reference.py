"""The reference: the original order, run until it passes, and the executor that all further orders use."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from typing import Callable, Sequence

from flakeboard.detection.crashes import without_crashes
from flakeboard.detection.execution.forks import ForkExecutor
from flakeboard.detection.execution.outcomes import PASS, fails
from flakeboard.detection.execution.records import Collection
from flakeboard.detection.findings import NOD, Finding
from flakeboard.detection.laboratory import Laboratory
from flakeboard.problems import Problem

UNSTABLE_SHARE = 0.1
"""Above this share of ids that differ between two collections there is no suite whose orders could be compared."""
_NAMED = 10
"""Failing tests of the original order that a message names."""


@dataclass
class Reference:
    tries: int
    seconds: float
    verdicts: dict[int, str]
    """By test, of the original order that counts."""
    durations: dict[int, float] = field(default_factory=dict)
    """Seconds by test."""
    findings: list[Finding] = field(default_factory=list)
    """Tests that ended both ways in this one order."""


def stable_ids(first: Collection, second: Sequence[str]) -> tuple[list[str], list[str]]:
    """The ids of both collections in the order of the first, and those of one alone; too many are a Problem."""
    known, again = set(first.ids), set(second)
    unstable = [name for name in first.ids if name not in again] + [name for name in second if name not in known]
    if len(unstable) > UNSTABLE_SHARE * len(known | again):
        shown = ", ".join(unstable[:5])
        raise Problem(
            f"{len(unstable):,} of {len(known | again):,} test ids differ between two collections, so orders cannot be "
            f"compared: {shown}{' …' if len(unstable) > 5 else ''}"
        )
    return [name for name in first.ids if name in again], unstable


Say = Callable[[str], None]


def establish(lab: Laboratory, tries: int, without_failing: bool, say: Say, limit: float) -> Reference:
    """Run the original order up to `tries` times; the first in which every test passes or is skipped counts."""
    seen: dict[int, list[str]] = defaultdict(list)
    for number in range(tries):
        order, outcome = without_crashes(
            lab, lab.tests, lambda order, number=number: lab.attempt(order, -number, lab.process, limit)
        )
        verdicts = dict(zip(order, outcome.verdicts))
        for place, verdict in verdicts.items():
            seen[place].append(verdict)
        failed = [place for place, verdict in verdicts.items() if fails(verdict)]
        ends = "is void: --reset failed" if outcome.void else f": {len(failed):,} failed, {outcome.total:.1f} s"
        say(f"original order, try {number + 1} of {tries}{' ' if outcome.void else ''}{ends}")
        lab.reference_seconds = outcome.total
        if not failed and not outcome.void:
            break
    mixed = [place for place, all_seen in seen.items() if _is_mixed(all_seen)]
    durations = dict(zip(order, outcome.seconds))
    reference = Reference(number + 1, outcome.total, verdicts, durations, [_nod(place, seen[place]) for place in mixed])
    if not failed:
        return reference
    always = [place for place in seen if all(map(fails, seen[place]))]
    if not without_failing:
        names = ", ".join(lab.suite.names(failed[:_NAMED]))
        more = f" and {len(failed) - _NAMED:,} more" if len(failed) > _NAMED else ""
        raise Problem(
            f"the original order did not pass in {tries} tries, so nothing can be compared with it: {names}{more}. "
            "Use --without-failing to leave out what always fails."
        )
    for place in always:
        lab.leave_out(place, f"failed in all {tries} runs of the original order")
    return reference


def _is_mixed(verdicts: Sequence[str]) -> bool:
    return any(map(fails, verdicts)) and any(verdict == PASS for verdict in verdicts)


def _nod(place: int, verdicts: Sequence[str]) -> Finding:
    failed = sum(map(fails, verdicts))
    return Finding(place, NOD, why=f"failed in {failed} of {len(verdicts)} runs of the original order")


def choose(
    lab: Laboratory,
    reference: Reference,
    fork: ForkExecutor | None,
    why_not: str,
    tries: int,
    say: Say,
) -> None:
    """Use `fork` where the original order ends alike in both; tests that end both ways under fork are NOD, too."""
    if fork is None:
        say(f"each order runs in a new process: {why_not}")
        return
    seen: dict[int, list[str]] = defaultdict(list)
    differing: list[int] = []
    for number in range(tries):
        order = lab.tests
        outcome = lab.attempt(order, -reference.tries - number, fork, lab.limit())
        for place, verdict in zip(order, outcome.verdicts):
            seen[place].append(verdict)
        known = {finding.test for finding in reference.findings}
        differing = [place for place in order if place not in known and not _is_alike(reference, place, seen[place])]
        if not differing and not outcome.ended:
            break
    mixed = [place for place in differing if _is_mixed(seen[place])]
    reference.findings += [_nod(place, seen[place]) for place in mixed]
    differing = [place for place in differing if place not in mixed]
    if differing or outcome.ended:
        names = ", ".join(lab.suite.names(differing[:10]))
        about = f"tests end differently under fork: {names}" if differing else f"under fork pytest {outcome.ended}"
        say(f"each order runs in a new process: {about}")
        fork.close()
        return
    lab.executor = fork


def _is_alike(reference: Reference, place: int, verdicts: Sequence[str]) -> bool:
    expected = reference.verdicts.get(place, PASS)
    return all(verdict == expected for verdict in verdicts)
