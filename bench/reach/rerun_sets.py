"""Rerun sets on made red builds: flaky failures cleared a second, against as many reruns of all that fail."""

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from analytics.reach.ratios import PUBLISHED
from analytics.reach.rerun_set import Candidate, rerun_set
from analytics.reach.touches import Answer
from bench.outcome import Outcome

BUILDS = 2_000
TIMES = 3
_FLAKY_UNTOUCHED, _OTHER_UNTOUCHED = 0.955, 0.015
"""Shares of flaky failures, and of others, that do not touch the change (Bell 2018)."""
_INTERMITTENT = 0.1
"""Of regressions that do not fail always: a rerun of one may pass, and then hides it."""
_UNKNOWN = 0.2
"""Of failing tests of which nobody knows what they touch."""


class Failing(NamedTuple):
    """A failing test as it is, and as it is known."""

    is_flaky: bool
    q: float
    """The chance that a rerun fails too; 1 for a regression that fails always."""
    candidate: Candidate


def made_build(draw: np.random.Generator, intermittent: float = _INTERMITTENT) -> list[Failing]:
    """One to eight failing tests, half of them regressions, of which some do not fail always."""
    build = []
    for number in range(int(draw.integers(1, 9))):
        is_flaky = bool(draw.random() < 0.5)
        untouched = draw.random() < (_FLAKY_UNTOUCHED if is_flaky else _OTHER_UNTOUCHED)
        answer = Answer.UNKNOWN if draw.random() < _UNKNOWN else Answer.NO if untouched else Answer.YES
        is_intermittent = not is_flaky and draw.random() < intermittent
        q = float(draw.beta(1.0, 4.0)) if is_flaky else float(draw.beta(4.0, 1.0)) if is_intermittent else 1.0
        seconds = float(np.exp(draw.normal(0.0, 1.5)))
        times = int(draw.integers(1, 6)) if is_flaky and draw.random() < 0.5 else TIMES
        own = Candidate(number, 1.0, PUBLISHED[answer], times, (1.0, 4.0), seconds, answer)
        build.append(Failing(is_flaky, q, own))
    return build


class Cleared(NamedTuple):
    flaky: int
    seconds: float
    hidden: int
    """Regressions that a rerun would have excused."""

    def plus(self, other: "Cleared") -> "Cleared":
        return Cleared(*(own + theirs for own, theirs in zip(self, other, strict=True)))


def rerun(failing: Failing, times: int, draw: np.random.Generator) -> Cleared:
    """Run it again until it passes, at most so often."""
    for count in range(1, times + 1):
        if draw.random() >= failing.q:
            return Cleared(int(failing.is_flaky), count * failing.candidate.seconds, int(not failing.is_flaky))
    return Cleared(0, times * failing.candidate.seconds, 0)


def compared(builds: int = BUILDS, seed: int = 5, intermittent: float = _INTERMITTENT) -> tuple[Cleared, Cleared]:
    """What the set clears, and what reruns of all that fail clear."""
    draw = np.random.default_rng(seed)
    chosen = all_ = Cleared(0, 0.0, 0)
    for _ in range(builds):
        build = made_build(draw, intermittent)
        budget = float(sum(failing.candidate.seconds for failing in build)) * TIMES / 2
        taken = rerun_set([failing.candidate for failing in build], budget).chosen
        by_number = {failing.candidate.number: failing for failing in build}
        for choice in taken:
            chosen = chosen.plus(rerun(by_number[choice.candidate.number], choice.candidate.times, draw))
        for failing in build:
            all_ = all_.plus(rerun(failing, TIMES, draw))
    return chosen, all_


def run() -> Iterable[Outcome]:
    chosen, all_ = compared()
    ratio = (chosen.flaky / chosen.seconds) / (all_.flaky / all_.seconds)
    yield Outcome(
        f"rerun set: flaky failures cleared a second, against {TIMES} reruns of all", ratio, "times", least=1.3
    )
    yield Outcome(
        "rerun set: flaky failures cleared, of those that reruns of all clear",
        chosen.flaky / all_.flaky,
        aim="the more the better",
    )
    what = f"rerun set: regressions hidden, against reruns of all ({all_.hidden}), one in ten of them intermittent"
    yield Outcome(what, chosen.hidden / max(all_.hidden, 1), "times", most=0.25)
    always, _ = compared(intermittent=0.0)
    yield Outcome("rerun set: regressions hidden that fail always", always.hidden, most=0)
