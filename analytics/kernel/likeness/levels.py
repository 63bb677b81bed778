"""At which score a project's predictor may speak, judged by its own past, and why it is silent where it may not."""

from dataclasses import dataclass

import numpy as np

from analytics.kernel.executions import Flags, Floats
from analytics.kernel.parameters import DEMANDS, Demands
from analytics.kernel.rates import clopper_pearson

LIKELY_LEVELS = (0.5, 0.6, 0.7, 0.8, 0.9)
MORE_RUNS_LEVELS = (0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)


@dataclass(frozen=True, slots=True)
class Cases:
    """Earlier scores, and what became of each."""

    score: Floats
    flaky: Flags

    def __len__(self) -> int:
        return len(self.score)


@dataclass(frozen=True, slots=True)
class Record:
    """How many earlier predictions at a level were right, of how many, with the interval."""

    right: int
    of: int
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Level:
    least: float
    record: Record


@dataclass(frozen=True, slots=True)
class Levels:
    """At which scores a predictor says something; None is silence, and `why` its reason."""

    likely: Level | None
    more_runs: Level | None
    why: str = ""


def levels(cases: Cases, known_flaky: int, share: float, demands: Demands = DEMANDS) -> Levels:
    """The least levels that earlier cases justify. `share`: the project's share of flaky tests."""
    if known_flaky < demands.least_flaky:
        return Levels(None, None, f"fewer than {demands.least_flaky} flaky tests to learn from")
    likely = _least(LIKELY_LEVELS, cases, demands.least_right, demands)
    enough = demands.times_chance * share
    more = _least(MORE_RUNS_LEVELS, cases, enough, demands) if share * demands.times_chance < 1 else None
    return Levels(likely, more, "" if likely else _reason(cases, demands))


def record(cases: Cases, least: float, confidence: float = DEMANDS.confidence) -> Record:
    """How often the cases at a level or above it were flaky."""
    at = cases.score >= least
    right, of = int((at & cases.flaky).sum()), int(at.sum())
    low, high = clopper_pearson(np.array([right]), np.array([of]), confidence)
    return Record(right, of, float(low[0]), float(high[0]))


def _least(choices: tuple[float, ...], cases: Cases, enough: float, demands: Demands) -> Level | None:
    for least in choices:
        found = record(cases, least, demands.confidence)
        if found.of >= demands.least_cases and found.low >= enough:
            return Level(least, found)
    return None


def _reason(cases: Cases, demands: Demands) -> str:
    found = record(cases, LIKELY_LEVELS[0], demands.confidence)
    if found.of < demands.least_cases:
        return f"fewer than {demands.least_cases} earlier cases to judge by"
    return f"earlier predictions were right too seldom ({found.right} of {found.of})"
