"""One simulated history: what was concluded of it beside what is true."""

from collections.abc import Sequence
from enum import IntEnum

import numpy as np

from analytics.kernel.executions import Executions, Flags, Floats, Ints
from analytics.kernel.window import Window
from analytics.simulation.truth import Kind, Truth
from bench.rules import both_outcomes, first_of

DAY = 86_400
CLUSTERED_FAILURES = 3
"""A test can be asked to be in a cluster where it failed at least so often."""


def flags(numbers: Sequence[int] | Ints, tests: int) -> Flags:
    chosen = np.zeros(tests, dtype=bool)
    chosen[np.asarray(numbers, dtype=np.int64)] = True
    return chosen


def truly_flaky(window: Window, truth: Truth) -> Flags:
    return flags(list(truth.flakes), len(window.executed))


def plain_regressions(window: Window, truth: Truth) -> Flags:
    """Tests that broke for real and are not flaky."""
    broken = flags([one.number for one in truth.regressions], len(window.executed))
    return broken & ~truly_flaky(window, truth)


def _outside(window: Window, incidents: Flags) -> tuple[Executions, Flags]:
    """What ran, without failures inside incidents (by report), and which of these rows are told to be attempts."""
    rows = window.executions
    kept = rows.executed & ~(rows.failing & incidents[rows.report])
    return rows.where(kept), window.told[kept]


def _places(window: Window) -> Ints:
    """By report: a number for its revision and environment; -1 where the revision is not known."""
    revision, environment = window.reports.revision, window.reports.environment
    return np.where(revision < 0, -1, revision * (int(environment.max(initial=-1)) + 2) + environment + 1)


def known_since(window: Window, incidents: Flags) -> Ints:
    """By test number: the report that completed its first contradiction or recovery outside incidents; -1 for none."""
    ran, told = _outside(window, incidents)
    contradicted = both_outcomes(ran, _places(window)[ran.report])
    attempts = ran.where(told)
    recovered = both_outcomes(attempts, window.reports.run[attempts.report])
    tests, reports = (np.concatenate(columns) for columns in zip(contradicted, recovered, strict=True))
    return first_of(window, tests, reports)


def both_seen(window: Window, truth: Truth) -> Flags:
    """By test number: it passed and failed at one revision in one environment, failures in true incidents aside."""
    ran, _ = _outside(window, flags(sorted(truth.incidents), len(window.reports)))
    tests, reports = both_outcomes(ran, _places(window)[ran.report])
    return first_of(window, tests, reports) >= 0


def days_until(window: Window, truth: Truth, first: Ints) -> Floats:
    """For each flaky test that failed: days from when it could first fail to when it was called flaky; inf: never."""
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
    """By place: what made the test fail. Infrastructure: incidents alone did."""
    tests, rows = len(window.executed), window.executions
    outside = ~flags(sorted(truth.incidents), len(window.reports))[rows.report]
    own = np.bincount(rows.test[rows.failing & outside], minlength=len(window.failing)) > 0
    kind = np.where(own, int(TrueKind.NOTHING), int(TrueKind.INFRASTRUCTURE))
    kind[own & plain_regressions(window, truth)[window.failing]] = TrueKind.BROKEN
    kind[own & truly_flaky(window, truth)[window.failing]] = TrueKind.OTHER
    ordered = [number for number, flake in truth.flakes.items() if flake.kind in _ORDER_KINDS]
    kind[own & flags(ordered, tests)[window.failing]] = TrueKind.ORDER
    return kind


# -- clusters ----------------------------------------------------------------------------------------------------


def _labels(labels: Ints) -> Ints:
    """Labels with every -1 made a label of its own."""
    alone = labels < 0
    return np.where(alone, labels.max(initial=-1) + 1 + np.cumsum(alone), labels)


def cluster_labels(window: Window, truth: Truth, concluded: Ints) -> tuple[Ints, Ints]:
    """True and concluded labels (`concluded` by place) of the flaky tests that failed often enough."""
    chosen = truly_flaky(window, truth)[window.failing] & (window.failed[window.failing] >= CLUSTERED_FAILURES)
    group = np.array([truth.flakes[int(number)].group for number in window.failing[chosen]], dtype=np.int64)
    return _labels(group), _labels(concluded[chosen])


# -- cost --------------------------------------------------------------------------------------------------------


def flaky_failures(window: Window, truth: Truth, rows: Executions) -> Flags:
    """Failing rows that flakiness explains: of a flaky test while it was flaky, outside incidents."""
    tests = len(window.executed)
    since, until = np.full(tests, len(window.reports)), np.zeros(tests, dtype=np.int64)
    for number, flake in truth.flakes.items():
        since[number], until[number] = flake.since, len(window.reports) if flake.until < 0 else flake.until
    number = window.failing[rows.test]
    active = (rows.report >= since[number]) & (rows.report < until[number])
    incident = flags(sorted(truth.incidents), len(window.reports))[rows.report]
    return np.asarray(rows.failing & active & ~incident)


def true_cost(window: Window, truth: Truth) -> Floats:
    """By test number: runs that flaky tests alone blocked, each shared by the tests that failed in it."""
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
    """True causes by true cost: a cluster is one."""
    causes: dict[tuple[int, int], list[int]] = {}
    for number, flake in truth.flakes.items():
        causes.setdefault((flake.group, number if flake.group < 0 else -1), []).append(number)
    items = [np.array(numbers, dtype=np.int64) for numbers in causes.values()]
    return sorted(items, key=lambda numbers: -float(cost[numbers].sum()))
