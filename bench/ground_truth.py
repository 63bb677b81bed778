"""The conclusions from a simulated history, compared with its truth."""

from collections.abc import Sequence
from enum import IntEnum

import numpy as np

from analytics.kernel.analysis import Analysis
from analytics.kernel.executions import Executions, Flags, Floats, Ints
from analytics.kernel.window import Window
from analytics.simulation.truth import Kind, Truth
from bench.rules import both_outcomes, first_of

DAY = 86_400
CLUSTERED_FAILURES = 3
"""The failures that a test needs to be expected in a cluster."""


def flags(numbers: Sequence[int] | Ints, tests: int) -> Flags:
    chosen = np.zeros(tests, dtype=bool)
    chosen[np.asarray(numbers, dtype=np.int64)] = True
    return chosen


def truly_flaky(window: Window, truth: Truth) -> Flags:
    return flags(list(truth.flakes), len(window.executed))


def plain_regressions(window: Window, truth: Truth) -> Flags:
    """Tests that broke for real and are not flaky."""
    broken = flags([regression.number for regression in truth.regressions], len(window.executed))
    return broken & ~truly_flaky(window, truth)


def broken_at_end(window: Window, truth: Truth) -> Flags:
    """Tests that broke for real on the default branch in all environments and are still broken."""
    last = [
        regression.number
        for regression in truth.regressions
        if regression.fixed < 0 and regression.default_branch and regression.environment < 0
    ]
    gone = flags(list(truth.renames), len(window.executed))
    return flags(last, len(window.executed)) & ~gone


def in_incidents(window: Window, truth: Truth, rows: Executions) -> Flags:
    """Failing rows that a true incident explains: all of its report, or only the tests that it hit."""
    inside = flags(sorted(truth.incidents), len(window.reports))[rows.report]
    number = window.failing[rows.test]
    for report, members in truth.members.items():
        inside &= (rows.report != report) | np.isin(number, sorted(members))
    return np.asarray(rows.failing & inside)


def taken_for_incidents(analysis: Analysis, truth: Truth) -> Flags:
    """By test number: one of its failures was removed as an incident's in a report that is none."""
    window, kept = analysis.window, analysis.outside.executions
    rows = window.executions
    failing = rows.failing & ~flags(sorted(truth.incidents), len(window.reports))[rows.report]
    outside = kept.failing & ~flags(sorted(truth.incidents), len(window.reports))[kept.report]
    lost = rows.count(failing) > kept.count(outside)
    return flags(window.failing[lost], len(window.executed))


def _outside(window: Window, taken: Flags) -> tuple[Executions, Flags]:
    """The executions without the removed failures, and which of these rows are marked as attempts."""
    rows = window.executions
    kept = rows.executed & ~taken
    return rows.where(kept), window.retried[kept]


def _places(window: Window) -> Ints:
    """By report: a number for its revision and environment; -1 if the revision is unknown."""
    revision, environment = window.reports.revision, window.reports.environment
    return np.where(revision < 0, -1, revision * (int(environment.max(initial=-1)) + 2) + environment + 1)


def known_since(window: Window, incidents: Flags) -> Ints:
    """By test number: the report that completed its first contradiction or recovery outside incidents; -1 for none."""
    rows = window.executions
    ran, retried = _outside(window, np.asarray(rows.failing & incidents[rows.report]))
    contradicted = both_outcomes(ran, _places(window)[ran.report])
    attempts = ran.where(retried)
    recovered = both_outcomes(attempts, window.reports.run[attempts.report])
    tests, reports = (np.concatenate(columns) for columns in zip(contradicted, recovered, strict=True))
    return first_of(window, tests, reports)


def both_seen(window: Window, truth: Truth) -> Flags:
    """By test number: it passed and failed at one revision in one environment, outside true incidents."""
    ran, _ = _outside(window, in_incidents(window, truth, window.executions))
    tests, reports = both_outcomes(ran, _places(window)[ran.report])
    return first_of(window, tests, reports) >= 0


def days_until(window: Window, truth: Truth, first: Ints) -> Floats:
    """For each flaky test that failed: days from its first possible failure until it was called flaky; inf for never."""
    started = window.reports.started
    failed = [flake for flake in truth.flakes.values() if window.failed[flake.number]]
    number = np.array([flake.number for flake in failed], dtype=np.int64)
    since = np.maximum(np.array([flake.since for flake in failed], dtype=np.int64), window.first[number])
    found = first[number]
    waited = np.maximum(started[np.maximum(found, 0)] - started[since], 0.0) / DAY if len(number) else np.zeros(0)
    return np.where(found < 0, np.inf, waited)


# -- kinds -------------------------------------------------------------------------------------------------------


class TrueKind(IntEnum):
    ORDER = 0
    OTHER = 1
    INFRASTRUCTURE = 2
    BROKEN = 3
    NOTHING = 4


TRUE_KINDS = ("OD", "NOD", "infrastructure", "broken", "nothing")
_ORDER_KINDS = frozenset({Kind.VICTIM, Kind.BRITTLE})


def true_kinds(window: Window, truth: Truth) -> Ints:
    """By place: the true reason of the test's failures. Infrastructure: only incidents."""
    tests, rows = len(window.executed), window.executions
    own = rows.count(rows.failing & ~in_incidents(window, truth, rows)) > 0
    kind = np.where(own, int(TrueKind.NOTHING), int(TrueKind.INFRASTRUCTURE))
    kind[own & plain_regressions(window, truth)[window.failing]] = TrueKind.BROKEN
    kind[own & truly_flaky(window, truth)[window.failing]] = TrueKind.OTHER
    ordered = [number for number, flake in truth.flakes.items() if flake.kind in _ORDER_KINDS]
    kind[own & flags(ordered, tests)[window.failing]] = TrueKind.ORDER
    return kind


# -- clusters ----------------------------------------------------------------------------------------------------


def _labels(labels: Ints) -> Ints:
    """Labels with a unique label for every -1."""
    alone = labels < 0
    return np.where(alone, labels.max(initial=-1) + 1 + np.cumsum(alone), labels)


def cluster_labels(window: Window, truth: Truth, concluded: Ints) -> tuple[Ints, Ints]:
    """True and concluded labels (`concluded` by place) of the flaky tests that failed often enough."""
    chosen = truly_flaky(window, truth)[window.failing] & (window.failed[window.failing] >= CLUSTERED_FAILURES)
    group = np.array([truth.flakes[int(number)].group for number in window.failing[chosen]], dtype=np.int64)
    return _labels(group), _labels(concluded[chosen])


# -- cost --------------------------------------------------------------------------------------------------------


def flaky_failures(window: Window, truth: Truth, rows: Executions) -> Flags:
    """Failing rows of flaky tests while they were flaky, outside incidents."""
    tests = len(window.executed)
    since, until = np.full(tests, len(window.reports)), np.zeros(tests, dtype=np.int64)
    for number, flake in truth.flakes.items():
        since[number], until[number] = flake.since, len(window.reports) if flake.until < 0 else flake.until
    number = window.failing[rows.test]
    active = (rows.report >= since[number]) & (rows.report < until[number])
    return np.asarray(rows.failing & active & ~in_incidents(window, truth, rows))


def true_cost(window: Window, truth: Truth) -> Floats:
    """By test number: its share of the runs that only flaky tests blocked."""
    ran = window.executions.where(window.executions.executed)
    ends = ran.where(ran.last_attempt & ran.failing)
    explained = flaky_failures(window, truth, ends)
    run, number = window.reports.run[ends.report], window.failing[ends.test]
    for_real = np.unique(run[~explained])
    cells = np.unique(np.stack([run, number])[:, ~np.isin(run, for_real)], axis=1)
    _, of, failing = np.unique(cells[0], return_inverse=True, return_counts=True)
    return np.bincount(cells[1], weights=1 / failing[of], minlength=len(window.executed)).astype(np.float64)


def in_top(cost: Floats, items: Sequence[Ints], most: int = 10) -> float:
    """The cost of the tests in the first items (each the numbers of one or more tests)."""
    chosen = np.unique(np.concatenate([*items[:most], np.zeros(0, dtype=np.int64)])).astype(np.int64)
    return float(cost[chosen].sum())


def best_items(cost: Floats, truth: Truth) -> list[Ints]:
    """True causes by true cost; a cluster is one cause."""
    causes: dict[tuple[int, int], list[int]] = {}
    for number, flake in truth.flakes.items():
        causes.setdefault((flake.group, number if flake.group < 0 else -1), []).append(number)
    items = [np.array(numbers, dtype=np.int64) for numbers in causes.values()]
    return sorted(items, key=lambda numbers: -float(cost[numbers].sum()))
