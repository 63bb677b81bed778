"""Findings about groups of tests: clusters, incidents, and what to fix first."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from analytics.findings.json_values import Finding, grouped, number, numbers
from analytics.kernel.analysis import Analysis
from analytics.kernel.executions import Ints, distinct_per
from analytics.kernel.incidents import IncidentRule
from analytics.kernel.window import CONFIRMED, REJECTED, UNDECIDED
from analytics.loaders import Loaded
from analytics.models import ClusterFinding
from ingest.verdict import Verdict

_RUNS_SHOWN = 60
_TESTS_SHOWN = 200
_SIGNATURES_SHOWN = 5
DECIDED = {CONFIRMED: "confirmed", REJECTED: "rejected"}


# -- clusters ----------------------------------------------------------------------------------------------------


def clusters(found: Analysis, loaded: Loaded) -> Iterator[tuple[str, int, Finding]]:
    """The view, number and content of each cluster."""
    cells = _Cells(found, loaded)
    views = ((ClusterFinding.View.TOGETHER, found.clusters.label), (ClusterFinding.View.SIGNATURE, found.by_signature))
    for view, label in views:
        inside = np.flatnonzero(label >= 0)
        for members in grouped(label[inside], inside).values():
            yield view.value, int(found.window.failing[members[0]]), cells.cluster(np.array(members), view)


class _Cells:
    """The reports that each test failed in, and how the two views agree."""

    def __init__(self, found: Analysis, loaded: Loaded) -> None:
        self._found, self._loaded = found, loaded
        self._every = found.outside.executions
        rows = np.flatnonzero(self._every.failing)
        self._test, self._report = self._every.test[rows], self._every.report[rows]
        self._signature = found.outside.signature[rows]
        self._starts = np.searchsorted(self._every.test, np.arange(self._every.tests + 1, dtype=self._every.test.dtype))

    def cluster(self, members: Ints, view: ClusterFinding.View) -> Finding:
        inside = np.zeros(self._every.tests, dtype=bool)
        inside[members] = True
        bad = np.flatnonzero(inside[self._test])
        reports = np.unique(self._report[bad])
        runs = np.unique(self._found.window.reports.run[reports])
        other = self._found.same_words if view is ClusterFinding.View.TOGETHER else self._found.clusters.label
        shown = reports[-_RUNS_SHOWN:]
        return {
            "tests": self._found.window.failing[members].tolist(),
            "runs": len(runs),
            "shared_runs": self._shared(bad),
            "first_report": int(self._loaded.report_ids[reports[0]]),
            "last_report": int(self._loaded.report_ids[reports[-1]]),
            "signatures": self._signatures(bad),
            "agreement": _agreement(other[members]),
            "reports": self._loaded.report_ids[shown].tolist(),
            "cells": self._rows(members[:_TESTS_SHOWN], shown),
        }

    def _shared(self, bad: Ints) -> int:
        """Runs in which at least two of its tests failed."""
        run = self._found.window.reports.run[self._report[bad]]
        return int(np.count_nonzero(distinct_per(run, self._test[bad]) > 1))

    def _signatures(self, bad: Ints) -> list[Finding]:
        which, count = np.unique(self._signature[bad], return_counts=True)
        order = np.argsort(-count, kind="stable")
        return [
            {"id": self._loaded.signature_ids[which[at]], "failures": int(count[at])}
            for at in order[:_SIGNATURES_SHOWN]
            if which[at] >= 0
        ]

    def _rows(self, members: Ints, shown: Ints) -> list[str]:
        """By test, a character for each report: F failed, P passed, - absent."""
        column = np.full(len(self._found.window.reports), -1, dtype=np.int64)
        column[shown] = np.arange(len(shown))
        outcomes = np.full((len(members), len(shown)), b"-", dtype="S1")
        for row, member in zip(outcomes, members.tolist(), strict=True):
            rows = slice(self._starts[member], self._starts[member + 1])
            where, verdict = column[self._every.report[rows]], self._every.verdict[rows]
            row[where[(where >= 0) & (verdict == Verdict.PASS)]] = b"P"
            row[where[(where >= 0) & ((verdict == Verdict.FAIL) | (verdict == Verdict.ERROR))]] = b"F"
        return [row.tobytes().decode() for row in outcomes]


def _agreement(other: Ints) -> Finding:
    """How the other view groups the members: the size of its largest group, and how many it leaves out."""
    labels = other[other >= 0]
    largest = int(np.bincount(labels).max()) if len(labels) else 0
    return {"together": largest, "apart": len(labels) - largest, "alone": int(np.count_nonzero(other < 0))}


# -- incidents ---------------------------------------------------------------------------------------------------


def incidents(found: Analysis, loaded: Loaded) -> Iterator[tuple[int, Finding]]:
    """The report id and content of each incident, including rejected ones."""
    judged, reports = found.incidents, found.window.reports
    ran = found.window.executions
    bad = np.flatnonzero(ran.failing)
    by_report = grouped(ran.report[bad].astype(np.int64), found.window.signature[bad])
    for place in np.flatnonzero(judged.found | (reports.decided != UNDECIDED)).tolist():
        signatures = np.array(by_report.get(place, []), dtype=np.int64)
        common = np.bincount(signatures[signatures >= 0]) if (signatures >= 0).any() else np.zeros(0, dtype=np.int64)
        yield (
            int(loaded.report_ids[place]),
            {
                "run": int(loaded.run_ids[reports.run[place]]),
                "host": loaded.hosts[reports.host[place]] if reports.host[place] >= 0 else "",
                "environment": loaded.environments[reports.environment[place]],
                "failing": int(judged.failing[place]),
                "executed": int(judged.executed[place]),
                "expected": number(judged.expected[place]),
                "beyond": number(judged.beyond[place]),
                "p_value": number(judged.p_value[place]),
                "why": [why.name.lower() for why in IncidentRule if why and why & int(judged.why[place]) and why.name],
                "signature": loaded.signature_ids[int(common.argmax())] if len(common) else None,
                "signature_failures": int(common.max()) if len(common) else 0,
                "decided": DECIDED.get(int(reports.decided[place]), ""),
            },
        )


# -- what to fix first -------------------------------------------------------------------------------------------


def priorities(found: Analysis) -> dict[str, list[Any]]:
    """Items to fix by rank, as columns."""
    items, failing = found.priority, found.window.failing
    label = found.clusters.label
    lowest = {
        int(cluster): int(failing[np.flatnonzero(label == cluster)[0]]) for cluster in items.cluster[items.cluster >= 0]
    }
    names = (
        *("members", "blocked", "alone", "would", "masked", "inspected", "inspected_low", "inspected_high"),
        *("machine_minutes", "machine_low", "machine_high", "developer_minutes", "cost", "low", "high", "saved_runs"),
    )
    return {
        "test": [int(failing[test]) if test >= 0 else None for test in items.test.tolist()],
        "cluster": [lowest.get(cluster) for cluster in items.cluster.tolist()],
        **{name: numbers(getattr(items, name)) for name in names},
        "blocked_runs": [items.blocked_runs] * len(items.test),
    }
