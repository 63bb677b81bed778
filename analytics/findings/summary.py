"""Of the project as a whole: what its overview, its reruns and its orders page say."""

import numpy as np

from analytics.findings.columns import CATEGORIES
from analytics.findings.plain import Finding, number, numbers
from analytics.kernel.analysis import Analysis
from analytics.kernel.flakiness import State
from analytics.kernel.parameters import DEFAULTS, Parameters
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
        "blocked": found.blocked.count,
        "retries": _retries(found),
        "exposure": _exposure(found),
        "bursts": _bursts(found),
        "orders": _orders(found),
        "causes": _causes(found),
        "suites": _suites(found, loaded),
        "incidents": int(np.count_nonzero(found.incident)),
        "clusters": len(found.clusters.size),
        "prior": numbers(found.failed.prior),
    }


def _states(found: Analysis) -> Finding:
    """How many tests of the window are in each state."""
    state = found.state[found.window.first >= 0]
    return {one.name.lower(): int(np.count_nonzero(state == one)) for one in State}


def _runs(found: Analysis, parameters: Parameters) -> Finding:
    """How runs ended; the share that flakiness alone made fail, with its interval."""
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
    ran = found.window.executions
    chosen = failed.is_flaky[ran.test] & ran.executed & (ran.ordinal == 0) & ~found.incident[ran.report]
    of_row = (reports.started[ran.report] // _DAY).astype(np.int64) - first
    executed = np.bincount(of_row[chosen], minlength=count)
    failing = np.bincount(of_row[chosen & ran.failing], minlength=count)
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
    """How few items explain most of the runs that flakiness blocked."""
    saved = found.priority.saved
    enough = np.flatnonzero(saved >= _MOST_OF_IT) if len(saved) else np.zeros(0, dtype=np.int64)
    if not len(enough):
        return None
    items = int(enough[0]) + 1
    return {"items": items, "tests": int(found.priority.members[:items].sum()), "share": number(saved[items - 1])}


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
        "exceptions": found.window.failing[curve.exceptions].tolist(),
        "failures": int(found.failed.rates.failed[found.failed.is_flaky].sum()),
    }


def _exposure(found: Analysis) -> Finding:
    """S(n) of the flaky tests, and the number that exposes the median one."""
    flaky, rates = found.failed.is_flaky, found.failed.rates
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
    """Of flaky tests: how many have which longest burst."""
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


def _causes(found: Analysis) -> Finding:
    told = [cause.category.value for mine in found.causes.values() for cause in mine]
    return {category: told.count(category) for category in CATEGORIES if category in told}


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
