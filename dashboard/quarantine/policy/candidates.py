"""From what an analysis concluded, stored or just computed, to what a policy asks of each test."""

from collections.abc import Collection, Iterable, Mapping
from datetime import UTC, datetime
from typing import Any

import numpy as np

from analytics.columns import schema as column_findings
from analytics.columns.codec import Columns, encode_columns
from analytics.columns.rows import TestRow, test_rows
from analytics.findings import groups
from analytics.kernel.analysis import Analysis as Conclusions
from analytics.kernel.flakiness import State
from analytics.models import Analysis, ClusterFinding, PriorityFinding, TestFinding
from dashboard.quarantine.policy.plan import Candidate
from ingest.models import Report

Flaked = Mapping[int, datetime]
"""By test number: its last failure that is part of a contradiction or recovery."""


def candidates_of(
    columns: Columns,
    priorities: Iterable[Mapping[str, Any]],
    flaked: Flaked,
    besides: Iterable[int] = (),
    one_message: Collection[int] = (),
) -> list[Candidate]:
    """The flaky tests, and those `besides` that have a quarantine.

    `one_message` are clusters of tests that fail together, all with one message: they are not listed by message too."""
    if not len(columns):
        return []
    chosen = (columns["state"] == State.FLAKY) | np.isin(columns["number"], list(besides))
    ranked = {priority["cluster"]: priority for priority in priorities if priority["cluster"] is not None}
    rows = test_rows(columns, np.flatnonzero(chosen))
    return [_candidate(row, ranked, flaked, one_message) for row in rows]


def _candidate(
    row: TestRow, ranked: Mapping[int, Mapping[str, Any]], flaked: Flaked, one_message: Collection[int]
) -> Candidate:
    """What a cluster blocked and costs counts for each of its tests: it cannot be told which of them it is due to."""
    cluster = ranked.get(row.cluster) if row.cluster is not None else None
    return Candidate(
        number=row.number,
        state=row.state,
        evidence=row.evidence.contradictions + row.evidence.recoveries,
        failed=row.failed,
        executed=row.executed,
        low=row.rate.low if row.rate else 0.0,
        default_failures=row.default_branch.failed if row.default_branch else 0,
        blocked=int(cluster["blocked"] if cluster else row.blocked or 0),
        cost=float((cluster["low"] if cluster else row.cost.low if row.cost else 0.0) or 0.0),
        clean=row.clean or 0,
        flaky_since=row.flaky_since,
        last_flaked=flaked.get(row.number),
        needed=row.reruns.to_confirm,
        together=row.cluster,
        signature=row.cluster if row.cluster in one_message else row.signature_cluster,
    )


def stored_candidates(analysis: Analysis, columns: Columns, besides: Iterable[int] = ()) -> list[Candidate]:
    """Of a stored analysis."""
    priorities = PriorityFinding.objects.filter(analysis=analysis).values_list("data", flat=True)
    return candidates_of(columns, priorities, _stored_flaked(analysis), besides, _stored_one_message(analysis))


def _stored_one_message(analysis: Analysis) -> set[int]:
    found = ClusterFinding.objects.filter(analysis=analysis, view=ClusterFinding.View.TOGETHER)
    rows = found.values_list("number", "data__agreement__together", "data__tests")
    return {number for number, alike, tests in rows if alike == len(tests)}


def _stored_flaked(analysis: Analysis) -> Flaked:
    found = TestFinding.objects.filter(analysis=analysis, data__onset__last__isnull=False)
    last = dict(found.values_list("number", "data__onset__last"))
    placed = dict(Report.objects.filter(pk__in=set(last.values())).values_list("pk", "placed_at"))
    return {number: placed[report] for number, report in last.items() if report in placed}


def computed_candidates(found: Conclusions, besides: Iterable[int] = ()) -> list[Candidate]:
    """Of an analysis that is not stored."""
    columns = Columns(encode_columns(column_findings.columns(found)))
    last, started = found.failed.onsets.last, found.window.reports.started
    flaked = {
        int(number): datetime.fromtimestamp(float(started[report]), UTC)
        for number, report in zip(found.window.failing.tolist(), last.tolist(), strict=True)
        if report >= 0
    }
    columns_by_rank = groups.priorities(found)
    priorities = (dict(zip(columns_by_rank, row, strict=True)) for row in zip(*columns_by_rank.values(), strict=True))
    return candidates_of(columns, priorities, flaked, besides, _computed_one_message(found))


def _computed_one_message(found: Conclusions) -> set[int]:
    """Numbers of the clusters whose tests all share words; a cluster is called by its lowest test."""
    label, words = found.clusters.label, found.same_words
    inside = [np.flatnonzero(label == cluster) for cluster in range(len(found.clusters.size))]
    alike = [members for members in inside if words[members[0]] >= 0 and (words[members] == words[members[0]]).all()]
    return {int(found.window.failing[members[0]]) for members in alike}
