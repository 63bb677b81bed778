"""A project's runs, newest first: which build is red, and by whose fault?"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from typing import Any

from django.contrib.postgres.aggregates import ArrayAgg, BoolOr
from django.db.models import F, Func, IntegerField, Q, QuerySet, Sum
from django.http import HttpRequest, QueryDict
from django.http.response import HttpResponseBase
from django.shortcuts import render

from analytics.runs.ends import ENDS, FAILED, GONE, PASSED, ends_of, with_ends
from dashboard.web.analysis import PageAnalysis, page_analysis
from dashboard.web.decorators import project_page
from dashboard.web.export import exported
from dashboard.web.page_context import PageContext
from dashboard.web.paging import keyset_page
from dashboard.web.query import choice, day, words
from dashboard.web.run.leads import runs_lead
from ingest.models import Project, Report, Run
from ingest.selectors import runs_of

RED = "red"
"""Any way to fail."""
_ASKED_FOR = (RED, *ENDS)
_BRANCHES_FROM = 500
"""Runs whose branches are offered to choose from; any other can be typed."""
_A_PIECE = 500
_HEADERS = (
    "run",
    "placed_at",
    "started_at",
    "end",
    "branch",
    "pull_request",
    "commit",
    "build_id",
    "job",
    "environment",
    "host",
)
_COUNTS = ("tests", "passed", "failed", "errored", "skipped")


@dataclass(frozen=True, slots=True)
class RunFilter:
    """What the list is narrowed down to, as the URL says it."""

    branch: str
    end: str
    search: str
    day: date | None = None
    """In UTC."""

    @classmethod
    def asked(cls, query: QueryDict) -> "RunFilter":
        return cls(words(query, "branch"), choice(query, "end", _ASKED_FOR), words(query, "q"), day(query, "day"))

    def __bool__(self) -> bool:
        return bool(self.branch or self.end or self.search or self.day)

    def narrow(self, runs: "QuerySet[Run]") -> "QuerySet[Run]":
        """Of runs with their ends."""
        if self.branch:
            runs = runs.filter(branch=self.branch)
        if self.day:
            begin = datetime.combine(self.day, time.min, UTC)
            runs = runs.filter(placed_at__gte=begin, placed_at__lt=begin + timedelta(days=1))
        if self.search:
            runs = runs.filter(matching(self.search))
        if self.end == RED:
            return runs.exclude(end__in=(PASSED, GONE))
        return runs.filter(end=self.end) if self.end else runs


def matching(text: str) -> Q:
    """Runs whose commit or build id begins with it, or whose branch or pull request holds it."""
    begins = Q(commit__startswith=text.lower()) | Q(build_id__startswith=text)
    return begins | Q(branch__icontains=text) | Q(pull_request=text.removeprefix("#"))


@project_page
def run_list(request: HttpRequest, project: Project) -> HttpResponseBase:
    now, filters, all_runs = page_analysis(project), RunFilter.asked(request.GET), runs_of(project.pk)
    judged = filters.end not in ("", RED)  # else it is enough to judge what is shown
    runs = filters.narrow(with_ends(all_runs, now.analysis if judged else None, now.columns))
    file = exported(request, f"{project.slug}-runs", (*_HEADERS, *_COUNTS), _export(runs, now))
    if file is not None:
        return file
    page = keyset_page(runs, request.GET, moment="placed_at")
    totals, ends = run_totals([run.pk for run in page.rows]), ends_of(page.rows, now.analysis, now.columns)
    context = {
        "project": project,
        "analysed": now,
        "page": page,
        "rows": page.rows,
        "builds": by_build([RunRow(run, totals.get(run.pk), ends.get(run.pk, GONE)) for run in page.rows]),
        "lead": runs_lead(
            PageContext.read(request, project),
            filters,
            now.analysis.summary["runs"] if now.analysis else None,
            any_run=bool(page.rows),
        ),
        "query": filters,
        "ends": _ASKED_FOR if now.analysis else (RED, PASSED),
        "failed": FAILED,
        "branches": sorted({branch for branch in all_runs.values_list("branch", flat=True)[:_BRANCHES_FROM] if branch}),
    }
    return render(request, "run/runs.html", context)


@dataclass(frozen=True, slots=True)
class RunRow:
    run: Run
    totals: dict[str, Any] | None
    """None where its report is gone."""
    end: str


@dataclass(frozen=True, slots=True)
class BuildRows:
    """The runs of one CI build that are on the page, or a run alone."""

    rows: list[RunRow]

    @property
    def first(self) -> Run:
        return self.rows[0].run

    @property
    def joined(self) -> bool:
        return len(self.rows) > 1

    @property
    def red(self) -> int:
        """Runs that did not pass."""
        return sum(row.end not in (PASSED, GONE) for row in self.rows)


def by_build(rows: Iterable[RunRow]) -> list[BuildRows]:
    """Runs of one build id together, where the newest of them is."""
    builds: dict[object, BuildRows] = {}
    for row in rows:
        build = row.run.build_id or ("alone", row.run.pk)
        builds.setdefault(build, BuildRows([])).rows.append(row)
    return list(builds.values())


def run_totals(run_ids: Sequence[int]) -> dict[int, dict[str, Any]]:
    """What the reports of each run add up to, in one query."""
    sums = {f"all_{name}": Sum(name) for name in _COUNTS}
    errors = Func(F("run_errors"), function="jsonb_array_length", output_field=IntegerField())
    reports = Report.objects.filter(run__in=run_ids).order_by().values("run_id")
    rows: Iterable[dict[str, Any]] = reports.annotate(
        **sums, outside=Sum(errors), producers=ArrayAgg("producer", distinct=True), incomplete=BoolOr("partial")
    )
    return {row["run_id"]: row for row in rows}


def _export(runs: "QuerySet[Run]", now: PageAnalysis) -> Iterator[Sequence[Any]]:
    """Every run of the list, read and added up by the hundred."""
    waiting: list[Any] = []
    for run in runs.iterator(chunk_size=_A_PIECE):
        waiting.append(run)
        if len(waiting) == _A_PIECE:
            yield from _export_rows(waiting, now)
            waiting = []
    yield from _export_rows(waiting, now)


def _export_rows(runs: Sequence[Any], now: PageAnalysis) -> Iterator[Sequence[Any]]:
    totals, ends = run_totals([run.pk for run in runs]), ends_of(runs, now.analysis, now.columns)
    for run in runs:
        environment = ", ".join(f"{name}={value}" for name, value in run.environment.items())
        facts = (run.branch, run.pull_request, run.commit, run.build_id, run.job, environment, run.host)
        counts = totals.get(run.pk, {})
        end = ends.get(run.pk, GONE)
        yield (run.pk, run.placed_at, run.started_at, end, *facts, *(counts.get(f"all_{name}") for name in _COUNTS))
