"""Findings about the whole project, for its overview, reruns and orders pages."""

from dataclasses import asdict

import numpy as np

from analytics.columns.schema import CATEGORIES
from analytics.findings.json_values import Finding, number, numbers
from analytics.kernel.analysis import Analysis, masked_rows
from analytics.kernel.bursts import Context
from analytics.kernel.flakiness import State
from analytics.kernel.hidden import hidden
from analytics.kernel.lifecycle import masked_by_month
from analytics.kernel.parameters import DEFAULTS, Parameters
from analytics.kernel.parts import ChosenTests, parts
from analytics.kernel.rates import rates_of
from analytics.kernel.reruns import NEVER, exposure_curve
from analytics.kernel.runs import RunEnd
from analytics.loaders import Loaded

_DAY = 86_400
_MOST_OF_IT = 0.8
_CURVE = (1, 2, 3, 4, 5, 6, 8, 10, 15, 20, 30, 40, 50, 75, 100, 150, 200, 300, 400, 500, 750, 1_000)


def summary(found: Analysis, loaded: Loaded, parameters: Parameters = DEFAULTS) -> Finding:
    return {
        "states": _states(found),
        "runs": _runs(found, parameters),
        "days": _days(found),
        "most": _most(found),
        "blocked": _blocked(found),
        "retries": _retries(found),
        "rerun_time": _rerun_time(found),
        "exposure": _exposure(found),
        "bursts": _bursts(found),
        "orders": _orders(found),
        "causes": _causes(found),
        "masked_by_month": _masked_by_month(found),
        "hidden": _hidden(found),
        "suites": _suites(found, loaded),
        "incidents": int(np.count_nonzero(found.incident)),
        "clusters": len(found.clusters.size),
        "prior": {context.name.lower(): numbers(found.failed.priors[context]) for context in Context},
    }


def _states(found: Analysis) -> Finding:
    """How many tests of the window are in each state."""
    state = found.state[found.window.first >= 0]
    return {kind.name.lower(): int(np.count_nonzero(state == kind)) for kind in State}


def _runs(found: Analysis, parameters: Parameters) -> Finding:
    """How runs ended, and the share that failed only because of flaky tests, with its interval."""
    ends = found.runs.end
    counts = {end.name.lower(): int(np.count_nonzero(ends == end)) for end in RunEnd}
    rate = rates_of(np.array([counts["flaky"]]), np.array([len(ends)]), parameters)
    return {**counts, "total": len(ends), "flaky_low": number(rate.low[0]), "flaky_high": number(rate.high[0])}


def _days(found: Analysis) -> list[Finding]:
    """By day, UTC: how its runs ended, and the first attempts of flaky tests."""
    runs, reports, failed = found.runs, found.window.reports, found.failed
    if not len(reports):
        return []
    first = int(reports.started.min() // _DAY)
    day = (runs.started // _DAY).astype(np.int64) - first
    count = int(max(day.max(initial=0), reports.started.max() // _DAY - first)) + 1
    ends = np.zeros((count, len(RunEnd)), dtype=np.int64)
    np.add.at(ends, (day, runs.end), 1)
    of_report = (reports.started // _DAY).astype(np.int64) - first
    executed, failing = np.zeros((2, count), dtype=np.int64)
    for part in parts(ChosenTests(found.window.executions, failed.is_flaky)):
        ran = part.executions
        chosen = ran.executed & (ran.ordinal == 0) & ~found.incident[ran.report]
        executed += np.bincount(of_report[ran.report[chosen]], minlength=count)
        failing += np.bincount(of_report[ran.report[chosen & ran.failing]], minlength=count)
    return [
        {
            "day": first + at,
            **{end.name.lower(): int(ends[at, end]) for end in RunEnd},
            "flaky_failed": int(failing[at]),
            "flaky_executed": int(executed[at]),
        }
        for at in range(count)
        if ends[at].any() or executed[at]
    ]


def _most(found: Analysis) -> Finding | None:
    """How few items explain most of the runs that flaky tests blocked."""
    items = found.priority
    enough = np.flatnonzero(items.saved >= _MOST_OF_IT) if len(items) else np.zeros(0, dtype=np.int64)
    if not len(enough):
        return None
    count = int(enough[0]) + 1
    return {
        "items": count,
        "tests": int(items.members[:count].sum()),
        "runs": int(items.saved_runs[count - 1]),
        "blocked": items.blocked_runs,
    }


def _blocked(found: Analysis) -> Finding:
    """Runs that currently flaky tests blocked, or would have without a broken one; and runs that quarantine saved."""
    return {
        "runs": found.blocking.count,
        "would": found.blocking.would_count,
        "masked": found.blocked.masked_runs,
        "masked_failures": int(found.blocked.masked.sum()),
    }


def _retries(found: Analysis) -> Finding:
    curve = found.retries
    return {
        "n": numbers(curve.n),
        "share": numbers(curve.share),
        "low": numbers(curve.low),
        "high": numbers(curve.high),
        "minutes": numbers(curve.minutes),
        "untimed": curve.untimed,
        "recommended": curve.recommended,
        "later": number(curve.stuck),
        "exceptions": found.window.failing[curve.exceptions].tolist(),
        "failures": int(found.failed.rates.failed[found.failed.is_flaky].sum()),
    }


def _rerun_time(found: Analysis) -> Finding:
    rerun_time = found.rerun_time
    names = ("attempts", "repeated", "total", "share", "repeated_runs", "runs", "untimed")
    return {name: number(getattr(rerun_time, name)) for name in names}


def _exposure(found: Analysis) -> Finding:
    """S(n) of the flaky tests, and the number that exposes the median one."""
    flaky, rates = found.failed.is_flaky, found.failed.attempts
    skipped = found.window.skipped[found.window.failing]
    seen = np.maximum(rates.executed + skipped, 1)
    p_pass, p_fail = ((rates.executed - rates.failed) / seen)[flaky], (rates.failed / seen)[flaky]
    needed = found.failed.to_expose[flaky]
    possible = needed[needed != NEVER]
    at = np.array(_CURVE) - 1
    return {
        "n": list(_CURVE),
        "half": numbers(exposure_curve(p_pass, p_fail, 0.5).share[at]),
        "sure": numbers(exposure_curve(p_pass, p_fail, 0.95).share[at]),
        "tests": int(flaky.sum()),
        "median": number(np.median(possible)) if len(possible) else None,
    }


def _bursts(found: Analysis) -> Finding:
    """The number of flaky tests by the length of their longest burst."""
    longest, count = np.unique(found.failed.bursts.longest[found.failed.is_flaky], return_counts=True)
    return {"longest": longest.tolist(), "tests": count.tolist()}


def _orders(found: Analysis) -> Finding:
    known = found.window.reports.order >= 0
    kinds = [finding.verdict.kind.value for finding in found.orders]
    return {
        "reports": int(np.count_nonzero(known)),
        "orders": len(np.unique(found.window.reports.order[known])),
        "kinds": {kind: kinds.count(kind) for kind in sorted(set(kinds))},
    }


def _hidden(found: Analysis) -> Finding:
    """How many flaky tests there are at least, those included that have not failed yet."""
    flaky = found.failed.is_flaky
    counts = hidden(found.failed.rates.failed[flaky])
    at_least = counts.within(int(np.count_nonzero(found.window.first >= 0)))
    return {"found": counts.found, "once": counts.once, "twice": counts.twice, "at_least": at_least}


def _masked_by_month(found: Analysis) -> list[Finding]:
    """Failing results by month, and those of flaky tests that a quarantine masked."""
    window = found.window
    rows = np.flatnonzero(window.executions.failing & ~found.incident[window.executions.report])
    test, report = window.executions.test[rows], window.executions.report[rows]
    masked = masked_rows(window)[rows] & found.failed.is_flaky[test]
    months = masked_by_month(found.runs.started, window.reports.run[report], test, masked)
    return [asdict(month) for month in months]


def _causes(found: Analysis) -> Finding:
    categories = [category.value for causes in found.causes.values() for category in {c.category for c in causes}]
    return {category: categories.count(category) for category in CATEGORIES if category in categories}


def _suites(found: Analysis, loaded: Loaded) -> list[Finding]:
    suites = found.suites
    return [
        {
            "suite": loaded.suites[suites.suite[row]],
            "tests": int(suites.tests[row]),
            "failed": int(suites.rate.failed[row]),
            "runs": int(suites.rate.executed[row]),
            "low": number(suites.rate.low[row]),
            "high": number(suites.rate.high[row]),
            "highest": number(suites.highest[row]),
            "total": number(suites.total[row]),
            "relation": suites.relation[row],
        }
        for row in np.argsort(-suites.rate.failed, kind="stable").tolist()
    ]
