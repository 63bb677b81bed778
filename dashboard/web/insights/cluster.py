"""One cluster: the tests that are one problem, the runs they failed in, and what they said."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse

from analytics.columns.codec import Columns
from analytics.columns.query import values
from analytics.columns.rows import TestRow, test_row, test_rows
from analytics.history.names import Names, TestName, names
from analytics.models import Analysis, ClusterFinding, PriorityFinding
from analytics.selectors import clusters_of
from dashboard import access
from dashboard.charts import heatmap
from dashboard.charts.figure import Chart, draw
from dashboard.web.analysis import PageAnalysis, page_analysis
from dashboard.web.decorators import project_page
from dashboard.web.insights.clusters import COLUMN_OF, OTHER, View, agreement_words
from dashboard.web.insights.leads import cluster_gone_lead, cluster_lead
from dashboard.web.page_context import PageContext
from dashboard.web.quarantine.held import held_of
from dashboard.web.test.test import test_of
from ingest.models import Failure, Project

TESTS_SHOWN = 200
"""Tests in the table; of these the analysis keeps what they did in the cluster's reports."""
TESTS_DRAWN = 60
_CELLS = {"F": heatmap.Cell.FAILED, "P": heatmap.Cell.PASSED, "-": heatmap.Cell.ABSENT}


@project_page
def cluster_detail(request: HttpRequest, project: Project, view: str, number: int) -> HttpResponse:
    if view not in View.values:
        raise Http404
    test, now = test_of(project, number), page_analysis(project)
    cluster = clusters_of(now.analysis).filter(view=view, number=number).first()
    may = access.user_may(request.user, project, "quarantine")
    context = {"project": project, "analysed": now, "may": may, "view": view, "number": number, "test": test}
    if cluster is None:
        row = test_row(now.columns, number)
        inside = row.cluster if view == View.TOGETHER else row.signature_cluster
        gone = cluster_gone_lead(analysed=now.analysis is not None, elsewhere=inside is not None, view=view)
        return render(request, "insights/cluster_gone.html", {**context, "row": row, "inside": inside, "lead": gone})
    data, page = cluster.data, PageContext.read(request, project)
    agreement = agreement_words(view, len(data["tests"]), data["agreement"])
    context["lead"] = cluster_lead(page, data["runs"], data["shared_runs"], agreement)
    return render(request, "insights/cluster.html", {**context, **_cluster_context(project, now, cluster)})


def _cluster_context(project: Project, now: PageAnalysis, cluster: ClusterFinding) -> dict[str, Any]:
    data = cluster.data
    tests = data["tests"][:TESTS_SHOWN]
    known = names(
        project.pk,
        tests=tests,
        reports=(data["first_report"], data["last_report"], *data["reports"]),
        signatures=(signature["id"] for signature in data["signatures"]),
    )
    members = _members(now.columns, data, known)
    return {
        "cluster": data,
        "size": len(data["tests"]),
        "other_view": OTHER[View(cluster.view)].value,
        "others": _elsewhere(now.columns, data["tests"], View(cluster.view)),
        "members": members,
        "held": held_of(project, [member.name for member in members]),
        "top": max((member.row.rate.high for member in members if member.row.rate), default=1.0),
        "first": known.report(data["first_report"]),
        "last": known.report(data["last_report"]),
        "signatures": [(signature, known.signature(signature["id"])) for signature in data["signatures"]],
        "failure": _failure(data),
        "chart": _heatmap_chart(project, data, known),
        "drawn": min(len(tests), TESTS_DRAWN),
        "item": _priority(now.analysis, cluster),
    }


# -- its tests ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Member:
    name: TestName
    row: TestRow
    failed_in: int
    """Of the cluster's latest reports, those it failed in."""
    was_in: int


def _members(columns: Columns, data: dict[str, Any], known: Names) -> list[Member]:
    rows = columns.rows(data["tests"][:TESTS_SHOWN])
    row_of = {row.number: row for row in test_rows(columns, np.array(list(rows.values()), dtype=np.int64))}
    return [
        Member(known.test(number), row_of[number], cells.count("F"), len(cells) - cells.count("-"))
        for number, cells in zip(data["tests"], data["cells"], strict=False)
        if number in row_of
    ]


def _elsewhere(columns: Columns, tests: list[int], view: View) -> list[tuple[int | None, int]]:
    """Where the other view has these tests: cluster and how many of them, the largest first; None for no cluster."""
    rows = list(columns.rows(tests).values())
    found = values(columns, COLUMN_OF[OTHER[view]])[rows] if rows else np.zeros(0)
    number, count = np.unique(found[~np.isnan(found)].astype(np.int64), return_counts=True)
    places: list[tuple[int | None, int]] = sorted(
        zip(number.tolist(), count.tolist(), strict=True), key=lambda place: -place[1]
    )
    alone = int(np.isnan(found).sum())
    return [*places, (None, alone)] if alone else places


def _priority(analysis: Analysis | None, cluster: ClusterFinding) -> dict[str, Any] | None:
    """What it costs, where it is one thing to fix: tests that share words alone are each their own."""
    if cluster.view != View.TOGETHER:
        return None
    found = PriorityFinding.objects.filter(analysis=analysis, data__cluster=cluster.number)
    item = found.values_list("rank", "data").first()
    return None if item is None else {"rank": item[0], **item[1]}


# -- what they did and said --------------------------------------------------------------------------------------


def _heatmap_chart(project: Project, data: dict[str, Any], known: Names) -> Chart:
    """The heat map of the reports that are still stored; each cell leads to what that test said in that run."""
    kept = [
        (at, report) for at, report_id in enumerate(data["reports"]) if (report := known.report(report_id)) is not None
    ]
    cells = data["cells"][:TESTS_DRAWN]
    picture = heatmap.Heatmap(
        tests=tuple(known.test(number).name for number in data["tests"][: len(cells)]),
        runs=tuple(f"{report.placed_at:%d %b %H:%M}" for _, report in kept),
        cells=tuple(tuple(_CELLS[row[at]] for at, _ in kept) for row in cells),
        base=f"{reverse('runs', args=(project.slug,))}/",
        run_parts=tuple(f"{report.run}" for _, report in kept),
        test_parts=tuple(f"/tests/{number}" for number in data["tests"][: len(cells)]),
    )
    return draw(heatmap, picture)


def _failure(data: dict[str, Any]) -> Failure | None:
    """One full failure with the commonest signature: of its newest reports, the last that has it."""
    if not data["signatures"]:
        return None
    found = Failure.objects.filter(report__in=data["reports"], signature=data["signatures"][0]["id"])
    return found.select_related("test", "report").defer("report__verdicts", "report__durations").order_by("-pk").first()
