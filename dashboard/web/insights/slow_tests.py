"""Slow tests: what makes the suite long, what became slower, and which job does everybody wait for?"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from urllib.parse import urlencode

from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString

from analytics import wording
from analytics.history.names import Names, names
from analytics.slow.timed_tests import SORTS, SlowTest, TimedTests, timed_tests
from dashboard.charts import time_shares
from dashboard.charts.figure import draw
from dashboard.charts.time_shares import SuiteTime, TimeShares
from dashboard.quarantine.owners.index import asked_numbers
from dashboard.web.analysis import page_analysis
from dashboard.web.decorators import project_page
from dashboard.web.export import Row, exported
from dashboard.web.page_context import NOTHING, joined, link, strong
from dashboard.web.paging import numbered_page
from dashboard.web.query import sort_asked, words
from ingest.identity import TestName
from ingest.models import Project

PAGE_SIZE = 50
HEADERS = ("number", "name", "class", "suite", "file", "seconds", "executed", "total_seconds", "share", "ratio")
_MOST_OF_IT = 0.5


@dataclass(frozen=True, slots=True)
class DurationChange:
    """A test that became slower or faster, and the run from which on."""

    name: TestName
    run: int | None
    at: datetime | None
    before: float
    after: float
    ratio: float
    low: float
    high: float
    p_value: float

    @property
    def slower(self) -> bool:
        return self.ratio > 1

    @property
    def words(self) -> str:
        return f"{_times(self.ratio)} ({self.low:.2g}–{self.high:.2g})"


@project_page
def slow_tests(request: HttpRequest, project: Project) -> HttpResponseBase:
    now, search, owner = page_analysis(project), words(request.GET, "q"), words(request.GET, "owner")
    sort = sort_asked(request.GET, SORTS) or "-total"
    every = timed_tests(now.columns)
    tests = timed_tests(now.columns, sort, asked_numbers(project, search, owner))
    slow: dict[str, Any] | None = now.analysis.summary["slow"] if now.analysis else None
    stored = slow["changes"] if slow else []
    ratios = {change["number"]: change["ratio"] for change in stored}
    file = exported(request, f"{project.slug}-slow-tests", HEADERS, _file_rows(project, tests, ratios))
    if file is not None:
        return file
    page = numbered_page(request.GET, total=len(tests), size=PAGE_SIZE)
    shown = tests.rows(slice(max(page.first - 1, 0), page.last))
    known = names(
        project.pk,
        tests=[*(test.number for test in shown), *ratios],
        reports=[change["report"] for change in stored],
    )
    changes = _changes(stored, known)
    shifts = {number: _times(ratio) for number, ratio in ratios.items()}
    context = {
        "project": project,
        "analysed": now,
        "search": search,
        "owner": owner,
        "sort": sort,
        "page": page,
        "rows": [(known.test(test.number), test, shifts.get(test.number)) for test in shown],
        "timed": len(every),
        "slow": slow,
        "changes": changes,
        "lead": slow_lead(every, slow, changes) if slow else "",
        "suites": draw(time_shares, _suites(project, slow, every.whole)) if slow else None,
        "paths": slow["paths"] if slow else None,
        "all_address": request.path,
    }
    return render(request, "insights/slow_tests.html", context)


def _times(ratio: float) -> str:
    return f"{ratio:.2g} times as long"


def _changes(stored: list[dict[str, Any]], known: Names) -> list[DurationChange]:
    """Those that became slower first, each group by what it costs."""
    found = []
    for change in stored:
        report = known.report(change["report"])
        numbers = {name: change[name] for name in ("before", "after", "ratio", "low", "high", "p_value")}
        at = (report.run, report.placed_at) if report else (None, None)
        found.append(DurationChange(known.test(change["number"]), *at, **numbers))
    return sorted(found, key=lambda change: not change.slower)


def _suites(project: Project, slow: dict[str, Any], whole: float) -> TimeShares:
    where = reverse("slow_tests", args=(project.slug,))
    return TimeShares(
        tuple(
            SuiteTime(
                *(suite["suite"], suite["tests"], suite["seconds"]),
                suite["seconds"] / whole if whole else 0.0,
                f"{where}?{urlencode({'q': suite['suite'][:255]})}",
            )
            for suite in slow["suites"]
        )
    )


def slow_lead(tests: TimedTests, slow: dict[str, Any], changes: list[DurationChange]) -> SafeString | str:
    """How long a run takes, how few tests take half of it, and whether any became slower."""
    if not len(tests):
        return "No report of the window says how long its tests take."
    few, taken = tests.most_of(_MOST_OF_IT)
    many = wording.counted(len(tests), "test")
    half = f"{few:,} of {many} take{'s' if few == 1 else ''} {wording.percent(taken)} of it."
    run = NOTHING
    if slow["run_seconds"]:
        run = format_html("The tests of a run take {} (median).", strong(wording.seconds(slow["run_seconds"])))
    return joined((run, half, _changed(slow["tested"], sum(change.slower for change in changes))))


def _changed(tested: int, slower: int) -> SafeString | str:
    if slower:
        return format_html("{} became slower.", link("#changes", strong(wording.counted(slower, "test"))))
    if not tested:
        return "Whether any became slower is not known: no test has 20 timed passes among the runs that are compared."
    return f"Of the {tested:,} that take the most time none became clearly slower."


def _file_rows(project: Project, tests: TimedTests, ratios: dict[int, float]) -> Iterator[Row]:
    """Names are read by the thousand."""
    for first in range(0, len(tests), 1_000):
        part: list[SlowTest] = tests.rows(slice(first, first + 1_000))
        known = names(project.pk, tests=[test.number for test in part])
        for test in part:
            name = known.test(test.number)
            yield (
                *(test.number, name.name, name.classname, name.suite, name.file, test.seconds, test.executed),
                *(test.total, test.share, ratios.get(test.number)),
            )
