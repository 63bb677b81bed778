"""What the default policy would have done in simulated projects with known truth: its benefits and harms."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime

import numpy as np

from analytics.kernel.analysis import analyse
from analytics.kernel.executions import Ints
from analytics.kernel.window import Window
from analytics.simulation import History, simulate
from analytics.simulation.truth import Truth
from bench import ground_truth
from bench.accuracy import MIX
from bench.outcome import Outcome
from bench.scores import share
from dashboard.quarantine.policy.candidates import computed_candidates
from dashboard.quarantine.policy.plan import Moment
from dashboard.quarantine.policy.settings import PolicyMode, PolicySettings
from dashboard.quarantine.policy.simulation import Simulation, Span

SEEDS = 50
EVERY_DAYS = 6
"""How often the policy is applied: less often than in production, where it follows every analysis."""
POLICY = PolicySettings(mode=PolicyMode.QUARANTINE)
"""The defaults, with every proposal approved at once."""
_DAY = 86_400.0


def history_until(history: History, reports: int) -> History:
    """The same project after this many reports."""
    ran, kept = history.ran, history.ran.report < reports
    cut = replace(
        ran,
        reports=ran.reports[:reports],
        present=ran.present[:reports],
        number=ran.number[kept],
        report=ran.report[kept],
        ordinal=ran.ordinal[kept],
        cause=ran.cause[kept],
    )
    return History(history.settings, history.truth, cut, history.every[:reports], history.attempt[kept])


def cuts(started: "np.ndarray[tuple[int], np.dtype[np.float64]]") -> list[int]:
    """The number of reports at every sixth day."""
    moments = np.arange(started[0] + EVERY_DAYS * _DAY, started[-1], EVERY_DAYS * _DAY)
    return sorted(set(np.searchsorted(started, moments, side="right").tolist()) - {0})


def rehearse(history: History, settings: PolicySettings = POLICY) -> Simulation:
    """Apply the policy at every sixth day, each time with the data of that day."""
    started = np.array([report.started for report in history.reports])
    simulation = Simulation(settings)
    for reports in cuts(started):
        found = analyse(history_until(history, reports).window())
        now = datetime.fromtimestamp(float(started[reports - 1]), UTC)
        moment = Moment(now, int((found.window.first >= 0).sum()), bool(found.incident[-1]))
        simulation.step(moment, computed_candidates(found, simulation.numbers))
    return simulation


@dataclass(frozen=True, slots=True)
class Judgement:
    """One history."""

    quarantined: int
    """Tests that were ever quarantined."""
    broken: int
    """Those that broke for real and are not flaky."""
    stable: int
    """Those that are not flaky at all."""
    flaky_failed: int
    flaky_passed: int
    """Runs that failed only because of flaky tests, and those that would have passed."""
    regressions: int
    masked: int
    """Real regressions that failed runs, and those with a run that would have passed despite them."""


def judge(history: History, simulation: Simulation) -> Judgement:
    window, truth = history.window(), history.truth
    ever = np.array(sorted(simulation.numbers), dtype=np.int64)
    runs = _failed_runs(window, truth, simulation.spans)
    return Judgement(
        quarantined=len(ever),
        broken=int(ground_truth.plain_regressions(window, truth)[ever].sum()),
        stable=int((~ground_truth.truly_flaky(window, truth))[ever].sum()),
        flaky_failed=len(runs.flaky),
        flaky_passed=sum(runs.flaky),
        regressions=len(runs.regressed),
        masked=sum(runs.regressed.values()),
    )


@dataclass(frozen=True, slots=True)
class _Runs:
    flaky: list[bool]
    """For each run after the policy's start that failed only because of flaky tests: whether it would have passed."""
    regressed: dict[int, bool]
    """By test that failed for real after the policy's start: whether such a run would have passed."""


def _failed_runs(window: Window, truth: Truth, spans: list[Span]) -> _Runs:
    """Each failed run, judged by the quarantines at its start."""
    ran = window.executions.where(window.executions.executed)
    ends = ran.where(ran.last_attempt & ran.failing)
    flaky = ground_truth.flaky_failures(window, truth, ends)
    incident = ground_truth.flags(sorted(truth.incidents), len(window.reports))
    number: Ints = window.failing[ends.test]
    runs = _Runs([], {})
    since = np.array([span.since.timestamp() for span in spans])
    for report in np.unique(ends.report).tolist():
        at = int(np.searchsorted(since, window.reports.started[report], side="left")) - 1
        if at < 0 or incident[report]:
            continue
        of_run = ends.report == report
        passes = set(number[of_run].tolist()) <= spans[at].numbers
        if flaky[of_run].all():
            runs.flaky.append(passes)
        for test in number[of_run & ~flaky].tolist():
            runs.regressed[test] = runs.regressed.get(test, False) or passes
    return runs


def histories(seeds: int = SEEDS) -> Iterator[Judgement]:
    for seed in range(seeds):
        history = simulate(replace(MIX[seed % len(MIX)], seed=seed))
        yield judge(history, rehearse(history))


def run() -> Iterator[Outcome]:
    judged = list(histories())
    total = {name: sum(getattr(judgement, name) for judgement in judged) for name in Judgement.__slots__}
    passed = share(total["flaky_passed"], total["flaky_failed"])
    yield Outcome("seeds", len(judged), least=50)
    yield Outcome("tests quarantined, in all seeds", total["quarantined"])
    yield Outcome("broken tests ever quarantined", total["broken"], most=0)
    yield Outcome("tests quarantined that are not flaky", total["stable"], most=0)
    yield Outcome(
        f"share of the {total['flaky_failed']:,} flaky-failed runs that would have passed",
        passed.value,
        passed.interval,
    )
    masked = share(total["masked"], total["regressions"])
    yield Outcome(f"share of the {total['regressions']:,} real regressions masked", masked.value, most=0)
