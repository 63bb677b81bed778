"""What to rerun of a run, and where to look for unknown flaky tests: gathered from the current analysis and reach."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np

from analytics.columns.codec import Columns
from analytics.columns.rows import absent_row, test_rows
from analytics.kernel.executions import Floats
from analytics.kernel.flakiness import State, flaky_or_recovered
from analytics.kernel.parameters import DEFAULTS
from analytics.models import Analysis
from analytics.reach.detection_plan import TELLING, Plan, chances, detection_plan, share_of
from analytics.reach.evidence import project_ratios
from analytics.reach.published_rates import planned_rates
from analytics.reach.rerun_set import UNKNOWN_SECONDS, Candidate, RerunSet, rerun_set
from analytics.reach.selectors import sources_of, touched
from analytics.reach.touches import Touch, touches
from analytics.runs.failure_facts import read_reports
from analytics.selectors import current_tests
from ingest.models import Project, Run
from ingest.reach.change_file import Change

OWN_RATES = 20
"""Flaky tests from which on a project's own rates are taken."""
_FEW = 3
"""Reruns that are recommended where there is no analysis."""


# -- what to rerun -----------------------------------------------------------------------------------------------


def rerun_set_of(project: Project, run: Run, numbers: Sequence[int] | None, budget: float) -> RerunSet:
    """Which failing tests of a run are worth a rerun; `numbers` where not all of them are asked about."""
    reports = read_reports(project, [run.pk])
    failing = [number for number in reports.failing.tolist() if numbers is None or number in set(numbers)]
    found = touched(project, run, failing)
    excluded = ""
    if any(report.run_errors for report in reports.reports):
        excluded = "errors outside the tests made the run fail"
    elif any(report.partial for report in reports.reports):
        excluded = "a part of the report could not be read"
    return _set_of(project, failing, found, budget, excluded)


def rerun_set_of_tests(project: Project, numbers: Sequence[int], budget: float) -> RerunSet:
    """The same without a run: what they touch is not known."""
    unknown: Change | None = None
    return _set_of(project, numbers, {number: touches(unknown, None) for number in numbers}, budget, "")


def _set_of(
    project: Project, failing: Sequence[int], found: dict[int, Touch], budget: float, excluded: str
) -> RerunSet:
    analysis, columns = current_tests(project.pk)
    odds, ratio = _state_odds(columns), project_ratios(project)
    row_of = columns.rows(failing)
    rows = dict(zip(row_of, test_rows(columns, np.array(list(row_of.values()), dtype=np.int64)), strict=True))
    priors = {} if analysis is None else analysis.summary["prior"]
    usual = _recommended(analysis)
    candidates = []
    for number in failing:
        row = rows.get(number) or absent_row(number)
        a, b = priors.get(row.again.context, DEFAULTS.fallback_prior)
        state = row.state if number in rows else State.STABLE
        candidates.append(
            Candidate(
                number=number,
                odds=odds[state],
                ratio=ratio.of(found[number].answer),
                times=row.reruns.to_get_past or usual,
                again=(a + row.again.failed, b + row.again.of - row.again.failed),
                seconds=row.seconds or UNKNOWN_SECONDS,
                touches=found[number].answer,
                excluded=excluded or ("it is broken: it fails again" if state is State.BROKEN else ""),
            )
        )
    return rerun_set(candidates, budget)


def _state_odds(columns: Columns) -> dict[State, float]:
    """Flaky failures against others of the tests in each state. Failures in a row count once; one was flaky where a
    pass beside it shows that."""
    if not len(columns):
        return dict.fromkeys(State, 1.0)
    shown = columns["contradictions"] + columns["recoveries"] + columns["reversals"]
    flaky = np.minimum(shown, columns["bursts"])
    odds = {}
    for state in State:
        own = columns["state"] == state
        odds[state] = float((flaky[own].sum() + 0.5) / ((columns["bursts"] - flaky)[own].sum() + 0.5))
    return odds


def _recommended(analysis: Analysis | None) -> int:
    """The number of reruns that is recommended for all tests of the project."""
    found = None if analysis is None else (analysis.summary.get("retries") or {}).get("recommended")
    return int(found or _FEW)


# -- where to look -----------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class ProjectPlan:
    numbers: Sequence[int]
    seconds: Floats
    plan: Plan
    share: float
    """Of flaky tests among all."""
    own_rates: bool
    traced: int
    """Tests of which it is known what they use."""


def project_plan(project: Project, numbers: Collection[int] | None, budget: float) -> ProjectPlan:
    """How often to run which tests that are not known to be flaky or broken; by default all with a duration."""
    _, columns = current_tests(project.pk)
    if not len(columns):
        empty = np.zeros(0)
        return ProjectPlan([], empty, Plan(np.zeros(0, dtype=np.int64), 0.0, 0.0, 0.0, 0.0), 0.0, False, 0)
    state, seconds = columns["state"], columns["seconds"].astype(np.float64)
    known = flaky_or_recovered(state)
    open_ = ~known & (state != State.BROKEN) & (seconds >= 0)
    if numbers is not None:
        open_ &= np.isin(columns["number"], list(numbers))
    at = np.flatnonzero(open_)
    chosen = columns["number"][at].tolist()
    share = share_of(known)
    sources = sources_of(project)
    exposed = np.array(
        [float(bool(sources[number] & TELLING)) if number in sources else np.nan for number in chosen], dtype=np.float64
    )
    rates, weights, own = _rates(columns)
    pi = chances(share, seconds[at], exposed)
    plan = detection_plan(pi, seconds[at], rates, weights, budget)
    return ProjectPlan(chosen, seconds[at], plan, share, own, int(np.isfinite(exposed).sum()))


def _rates(columns: Columns) -> tuple[Floats, Floats, bool]:
    flaky = flaky_or_recovered(columns["state"]) & (columns["attempts_executed"] > 0)
    rates = columns["attempts_failed"][flaky] / columns["attempts_executed"][flaky]
    rates = rates[(rates > 0) & (rates < 1)]
    if len(rates) < OWN_RATES:
        return *planned_rates(), False
    return rates, np.full(len(rates), 1 / len(rates)), True
