"""A project's runs, newest first: which build is red?"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from django.contrib.postgres.aggregates import ArrayAgg, BoolOr
from django.db.models import Exists, F, Func, IntegerField, OuterRef, Q, QuerySet, Sum
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import render

from dashboard.web.asking import choice, words
from dashboard.web.doors import project_page
from dashboard.web.paging import keyset_page
from ingest.models import Project, Report, Run
from ingest.selectors import runs_of

FAILING = "failing"
_BRANCHES_FROM = 500
"""Runs whose branches are offered to choose from; any other can be typed."""


@dataclass(frozen=True, slots=True)
class RunFilter:
    """What the list is narrowed down to, as the URL says it."""

    branch: str
    outcome: str
    search: str

    @classmethod
    def asked(cls, query: QueryDict) -> "RunFilter":
        return cls(words(query, "branch"), choice(query, "outcome", (FAILING,)), words(query, "q"))

    def __bool__(self) -> bool:
        return bool(self.branch or self.outcome or self.search)

    def narrow(self, runs: "QuerySet[Run]") -> "QuerySet[Run]":
        if self.branch:
            runs = runs.filter(branch=self.branch)
        if self.search:
            runs = runs.filter(Q(commit__startswith=self.search.lower()) | Q(build_id__startswith=self.search))
        if self.outcome == FAILING:
            red = Q(failed__gt=0) | Q(errored__gt=0) | ~Q(run_errors=[])
            runs = runs.filter(Exists(Report.objects.filter(red, run=OuterRef("pk"))))
        return runs


@project_page
def run_list(request: HttpRequest, project: Project) -> HttpResponse:
    runs, asked = runs_of(project.pk), RunFilter.asked(request.GET)
    page = keyset_page(asked.narrow(runs), request.GET, moment="started_at")
    totals = run_totals([run.pk for run in page.rows])
    branches = sorted({branch for branch in runs.values_list("branch", flat=True)[:_BRANCHES_FROM] if branch})
    context = {
        "project": project,
        "page": page,
        "rows": [(run, totals.get(run.pk)) for run in page.rows],
        "asked": asked,
        "branches": branches,
    }
    return render(request, "runs.html", context)


def run_totals(run_ids: list[int]) -> dict[int, dict[str, Any]]:
    """What the reports of each run add up to, in one query."""
    sums = {f"all_{name}": Sum(name) for name in ("tests", "passed", "failed", "errored", "skipped")}
    errors = Func(F("run_errors"), function="jsonb_array_length", output_field=IntegerField())
    reports = Report.objects.filter(run__in=run_ids).order_by().values("run_id")
    rows: Iterable[dict[str, Any]] = reports.annotate(
        **sums, outside=Sum(errors), producers=ArrayAgg("producer", distinct=True), incomplete=BoolOr("partial")
    )
    return {row["run_id"]: row | {"red": bool(row["all_failed"] + row["all_errored"] + row["outside"])} for row in rows}
