"""Whether a predictor that must earn its word on the project's own past is right when it speaks, and silent elsewhere.

Each project is lived through: at every twentieth the levels follow from what was scored before, and what is written
next is judged by them."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from analytics.kernel.executions import Flags
from analytics.kernel.likeness.backtest import backtest, blocks
from analytics.kernel.likeness.levels import Cases, levels
from analytics.kernel.likeness.score import Units
from bench.outcome import Outcome
from bench.predict.projects import Case, by_project, cases, is_here
from bench.predict.units import KEYS, labels, units_of

FEW_FLAKY, MOST = 0.2, 0.5
DRAWS = 20


@dataclass(frozen=True, slots=True)
class Spoken:
    """What was said of a project's tests: how often, how often rightly; and how many flaky ones there were to find."""

    times: int
    right: int
    flaky: int


@dataclass(frozen=True, slots=True)
class Life:
    share: float
    """Of flaky tests."""
    likely: Spoken
    more_runs: Spoken


def run() -> Iterable[Outcome]:
    if not is_here():
        return
    projects = dated_projects()
    by_key = {key: [life(units_of(project, key), labels(project)) for project in projects] for key in KEYS}
    yield Outcome("projects with dates", len(projects))
    yield from _judged("likely flaky", [[lived.likely for lived in lives] for lives in by_key.values()], 0.78, 0.22)
    silent = [sum(lived.likely.times == 0 for lived in lives) for lives in by_key.values()]
    yield Outcome("projects in which it is silent (at most 22)", float(np.median(silent)), most=22)
    yield Outcome("projects in which it is silent (at least 17)", float(np.median(silent)), least=17)
    few = [[lived for lived in lives if lived.share < FEW_FLAKY] for lives in by_key.values()]
    yield Outcome("projects with less than 20 % flaky tests", len(few[0]))
    yield from _judged("likely flaky, of these", [[lived.likely for lived in lives] for lives in few])
    yield from _judged("worth more runs, of these", [[lived.more_runs for lived in lives] for lives in few], 0.38, 0.13)
    yield Outcome(
        f"labels shuffled, {DRAWS} draws: times that a project below 50 % speaks",
        shuffled(projects, DRAWS),
        most=1,
    )


def dated_projects() -> list[list[Case]]:
    return [project for name in ("python", "flakeflagger") for project in by_project(cases(name), dated=True).values()]


def life(units: Units, flaky: Flags) -> Life:
    """What the predictor says of each block by the levels that the blocks before it justify."""
    past, before = backtest(units, flaky), 0
    likely, more = np.zeros(len(past), dtype=bool), np.zeros(len(past), dtype=bool)
    for start, end in blocks(len(units)):
        now = slice(before, before + end - start)
        found = levels(Cases(past.score[:before], past.flaky[:before]), int(flaky[:start].sum()), flaky[:start].mean())
        for words, level in ((likely, found.likely), (more, found.more_runs)):
            words[now] = past.score[now] >= level.least if level else False
        before = now.stop
    all_ = int(past.flaky.sum())
    spoken = [Spoken(int(words.sum()), int((words & past.flaky).sum()), all_) for words in (likely, more)]
    return Life(float(flaky.mean()), *spoken)


def shuffled(projects: Sequence[Sequence[Case]], draws: int) -> int:
    """How often a project with fewer flaky tests than others speaks although its labels mean nothing."""
    spoke = 0
    source = np.random.default_rng(0)
    units = [(units_of(project, KEYS[0]), labels(project)) for project in projects]
    below = [(known, flaky) for known, flaky in units if flaky.mean() < MOST]
    for _ in range(draws):
        spoke += sum(life(known, source.permutation(flaky)).likely.times > 0 for known, flaky in below)
    return spoke


def _judged(
    what: str, by_key: list[list[Spoken]], sharp: float | None = None, whole: float | None = None
) -> Iterable[Outcome]:
    totals = [np.sum([(spoken.times, spoken.right, spoken.flaky) for spoken in lives], axis=0) for lives in by_key]
    speaks = [sum(spoken.times > 0 for spoken in lives) for lives in by_key]
    yield Outcome(f"{what}: projects in which it speaks", float(np.median(speaks)))
    yield Outcome(f"{what}: precision", float(np.median([right / times for times, right, _ in totals])), least=sharp)
    yield Outcome(f"{what}: recall", float(np.median([right / flaky for _, right, flaky in totals])), least=whole)
