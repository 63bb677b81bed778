"""Clusters: which failures are one problem? By shared failing runs, by signature, and where the two disagree."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from django.db.models import BigIntegerField, Count, F, Func, IntegerField, OuterRef, Q, QuerySet, Subquery, Sum
from django.db.models.fields.json import KeyTextTransform
from django.db.models.functions import Cast
from django.http import HttpRequest, HttpResponseBase, QueryDict
from django.shortcuts import render

from analytics.columns.codec import Columns
from analytics.columns.query import values
from analytics.findings.json_values import grouped
from analytics.history.names import Names, ReportName, TestName, names, numbers_matching
from analytics.kernel.executions import Ints
from analytics.models import Analysis, ClusterFinding
from analytics.selectors import clusters_of
from analytics.wording import brief
from dashboard.web.analysis import page_analysis
from dashboard.web.decorators import project_page
from dashboard.web.export import exported
from dashboard.web.insights.leads import clusters_lead
from dashboard.web.page_context import PageContext
from dashboard.web.paging import numbered_page
from dashboard.web.query import choice, sort_asked, words
from ingest.models import Project, Report

PAGE_SIZE = 25
TESTS_LISTED = 3
View = ClusterFinding.View
COLUMN_OF = {View.TOGETHER: "cluster", View.SIGNATURE: "signature_cluster"}
"""View -> the column of tests that names their cluster in it."""
OTHER = {View.TOGETHER: View.SIGNATURE, View.SIGNATURE: View.TOGETHER}
_DISAGREES = Q(data__agreement__apart__gt=0) | Q(data__agreement__alone__gt=0)
_LISTED = ("view", "number", "data__tests", "data__runs", "data__shared_runs", "data__agreement")
_SIZE = Func(F("data__tests"), function="jsonb_array_length", output_field=IntegerField())
_LAST = Report.objects.filter(pk=Cast(KeyTextTransform("last_report", OuterRef("data")), BigIntegerField()))
_SORTS = {
    "size": _SIZE,
    "runs": F("data__runs"),
    "shared_runs": F("data__shared_runs"),
    "last_failure": Subquery(_LAST.values("placed_at")),
}
_FIELDS = (*_LISTED, "data__signatures", "data__first_report", "data__last_report")


# -- what tests say of clusters ----------------------------------------------------------------------------------


def rows_by_cluster(columns: Columns, name: str = "cluster") -> dict[int, list[int]]:
    """Cluster -> the rows of its tests; `name` is the column of one of the two views."""
    if not len(columns):
        return {}
    rows = np.flatnonzero(columns[name] >= 0)
    return grouped(values(columns, name)[rows].astype(np.int64), rows)


def _holding(columns: Columns, matching: Ints) -> Q:
    """Clusters that hold one of these tests."""
    if not len(columns):
        return Q(pk=None)
    there = np.isin(columns["number"], matching)
    any_of = Q(pk=None)
    for view, name in COLUMN_OF.items():
        found = np.unique(values(columns, name)[there & (columns[name] >= 0)]).astype(np.int64)
        any_of |= Q(view=view, number__in=found.tolist())
    return any_of


# -- the list ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class ClusterQuery:
    """What the list is narrowed down to, as the URL says it."""

    view: str
    disagreeing: bool
    search: str
    sort: str
    """Empty for the usual order: by view, then by failing runs."""

    @classmethod
    def read(cls, query: QueryDict) -> "ClusterQuery":
        view, sort = choice(query, "view", View.values), sort_asked(query, _SORTS)
        return cls(view, query.get("disagree") == "1", words(query, "q"), sort)

    @property
    def narrowed(self) -> bool:
        return bool(self.view or self.disagreeing or self.search)

    def narrow(
        self, found: "QuerySet[ClusterFinding]", columns: Columns, project: Project
    ) -> "QuerySet[ClusterFinding]":
        if self.view:
            found = found.filter(view=self.view)
        if self.disagreeing:
            found = found.filter(_DISAGREES)
        if self.search:
            found = found.filter(_holding(columns, numbers_matching(project.pk, self.search)))
        if not self.sort:
            return found
        by = _SORTS[self.sort.removeprefix("-")]
        return found.order_by(by.desc(nulls_last=True) if self.sort.startswith("-") else by.asc(nulls_last=True), "pk")


@dataclass(frozen=True, slots=True)
class ListedCluster:
    """A cluster as lists show it: a few of its tests by name."""

    view: str
    number: int
    size: int
    tests: list[TestName]
    runs: int
    shared_runs: int
    agreement: dict[str, int]
    signature: str
    first: ReportName | None
    last: ReportName | None

    @property
    def agrees(self) -> bool:
        return not self.agreement["apart"] and not self.agreement["alone"]

    @property
    def in_words(self) -> str:
        return agreement_words(self.view, self.size, self.agreement)


_SAME = {View.TOGETHER: "fail with the same message", View.SIGNATURE: "fail in the same runs"}
"""View -> what the other view would say of tests that it holds for one problem."""


def agreement_words(view: str, size: int, agreement: dict[str, int]) -> str:
    """How the other view sees these tests, as a sentence."""
    same = _SAME[View(view)]
    if agreement["together"] == size:
        return f"Both views agree: all {size} also {same}."
    if agreement["together"] < 2:
        return f"Only this view: no two of the {size} also {same}."
    rest = size - agreement["together"]
    return f"The views disagree: {agreement['together']} of the {size} also {same}, {rest} {_does(rest)} not."


def _does(count: int) -> str:
    return "does" if count == 1 else "do"


def _listed(rows: list[tuple[Any, ...]], known: Names) -> list[ListedCluster]:
    return [
        ListedCluster(
            view=view,
            number=number,
            size=len(tests),
            tests=[known.test(test) for test in tests[:TESTS_LISTED]],
            runs=runs,
            shared_runs=shared,
            agreement=agreement,
            signature=brief(known.signature(signatures[0]["id"])) if signatures else "",
            first=known.report(first),
            last=known.report(last),
        )
        for view, number, tests, runs, shared, agreement, signatures, first, last in rows
    ]


def _names(project: Project, rows: list[tuple[Any, ...]]) -> Names:
    return names(
        project.pk,
        tests=(number for row in rows for number in row[2][:TESTS_LISTED]),
        reports=(report for row in rows for report in row[-2:]),
        signatures=(row[6][0]["id"] for row in rows if row[6]),
    )


# -- the page ----------------------------------------------------------------------------------------------------


@project_page
def cluster_list(request: HttpRequest, project: Project) -> HttpResponseBase:
    now, query = page_analysis(project), ClusterQuery.read(request.GET)
    found = query.narrow(clusters_of(now.analysis), now.columns, project)
    file = exported(request, f"{project.slug}-clusters", HEADERS, _file_rows(project, found))
    if file is not None:
        return file
    counts = _counts(now.analysis)
    total = found.count() if query.narrowed else sum(counts["views"].values())
    page = numbered_page(request.GET, total=total, size=PAGE_SIZE)
    rows = list(found.values_list(*_FIELDS)[page.first - 1 : page.last])
    context = {
        "project": project,
        "analysed": now,
        "query": query,
        "page": page,
        "clusters": _listed(rows, _names(project, rows)),
        **counts,
        "lead": clusters_lead(
            PageContext.read(request, project),
            analysed=now.analysis is not None,
            clusters=counts["views"],
            tests=counts["tests_in"],
            disagreeing=counts["disagreeing"],
        ),
    }
    return render(request, "insights/clusters.html", context)


def _counts(analysis: Analysis | None) -> dict[str, Any]:
    """How many clusters each view has, how many tests are in them, and on how many the two disagree."""
    found = clusters_of(analysis).order_by().values_list("view")
    sums = found.annotate(clusters=Count("pk"), size=Sum(_SIZE), disagreeing=Count("pk", filter=_DISAGREES))
    counts_of = {view: counts for view, *counts in sums}
    of_view = {view.value: counts_of.get(view.value, (0, 0, 0)) for view in View}
    return {
        "views": {view: counts[0] for view, counts in of_view.items()},
        "tests_in": {view: counts[1] for view, counts in of_view.items()},
        "disagreeing": sum(counts[2] for counts in of_view.values()),
    }


HEADERS = (
    *("view", "number", "size", "tests", "runs", "shared_runs"),
    *("agreement", "signature", "first_failure", "last_failure"),
)


def _file_rows(project: Project, found: "QuerySet[ClusterFinding]") -> Iterator[list[Any]]:
    rows = list(found.values_list(*_FIELDS))
    known = _names(project, rows)
    every = names(project.pk, tests=(number for row in rows for number in row[2]))
    for row, cluster in zip(rows, _listed(rows, known), strict=True):
        yield [
            *(cluster.view, cluster.number, cluster.size),
            [every.test(number).name for number in row[2]],
            *(cluster.runs, cluster.shared_runs, cluster.in_words, cluster.signature),
            *(report.placed_at if report else None for report in (cluster.first, cluster.last)),
        ]
