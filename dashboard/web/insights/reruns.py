"""Reruns: how many retries should CI make, and which tests need something else?"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from django.http import HttpRequest, HttpResponseBase, QueryDict
from django.shortcuts import render
from django.utils.safestring import SafeString

from analytics import wording
from analytics.columns.codec import Columns
from analytics.columns.query import Sort, sorted_rows
from analytics.columns.rows import TestRow, test_rows
from analytics.history.names import TestName, names, numbers_matching
from analytics.kernel.executions import Ints
from analytics.kernel.rates import clopper_pearson
from analytics.kernel.reruns import excluded_by, to_confirm_known
from analytics.models import Analysis
from dashboard.charts import exposure, max_burst_cdf, retries
from dashboard.charts.figure import Chart, draw
from dashboard.charts.rate import Rate
from dashboard.web.analysis import page_analysis
from dashboard.web.decorators import project_page
from dashboard.web.export import exported
from dashboard.web.insights.leads import reruns_lead
from dashboard.web.insights.yardsticks import yardsticks
from dashboard.web.page_context import PageContext
from dashboard.web.paging import numbered_page
from dashboard.web.query import sort_asked, words
from ingest.models import Project

PAGE_SIZE = 50
_STEPS_DRAWN = (1, 2, 3, 4, 5, 7, 10, 15, 20)
_SORTS = ("failed", "again", "longest_burst", "to_get_past", "seconds")
_DEARLY = "-failed"
OTHERS = (("Harness", 5), ("Datadog", 20), ("Codecov", 30), ("Buildkite", 100))
"""What other tools call fixed: so many clean runs, for every test."""
PUBLISHED = ((5, 0.878), (7, 0.906))
"""Lam et al., reruns of 26 Java modules: the share of flaky tests with a longest burst of at most so many."""
SPENT_PUBLISHED = (0.02, 0.16)
"""Of Google's machine time for tests, what goes to running flaky ones again."""
_RARE = 0.01


# -- the curves --------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class ExpectedShare(Rate):
    """A share that is expected rather than counted: of its failures, how many n retries would have cleared."""

    expected: float = 0.0

    @property
    def share(self) -> float | None:
        return self.expected if self.total else None

    @property
    def cells(self) -> tuple[str, str, str, str]:
        interval = f"{wording.percent(self.low)} to {wording.percent(self.high)}"
        return f"about {self.hits:,}", f"{self.total:,}", wording.percent(self.share), interval


@dataclass(frozen=True, slots=True)
class Step:
    """What n retries of every failure would have cleared, and cost."""

    n: int
    share: float
    low: float
    high: float
    minutes: float | None
    """None where no duration is known."""


def steps_of(curve: dict[str, Any]) -> dict[int, Step]:
    """By number of retries; none where there were no flaky failures."""
    if not curve["failures"]:
        return {}
    columns = (curve[name] for name in ("n", "share", "low", "high", "minutes"))
    return {row[0]: Step(*row) for row in zip(*columns, strict=True)}


def _retries(curve: dict[str, Any]) -> Chart:
    total, steps = curve["failures"], steps_of(curve)
    drawn = sorted({*_STEPS_DRAWN, curve["recommended"] or 1} & steps.keys())
    data = retries.Retries(
        tuple(retries.RetryStep(n, _expected(steps[n], total), steps[n].minutes) for n in drawn), curve["recommended"]
    )
    return draw(retries, data)


def _expected(step: Step, total: int) -> ExpectedShare:
    return ExpectedShare(round(step.share * total), total, step.low, step.high, step.share)


def _exposure(curve: dict[str, Any]) -> Chart:
    n = tuple(curve["n"])
    lines = (exposure.ExposureLine(0.5, n, tuple(curve["half"])), exposure.ExposureLine(0.95, n, tuple(curve["sure"])))
    data = exposure.Exposure(lines, curve["tests"])
    return draw(exposure, data)


def _bursts(found: dict[str, Any]) -> Chart:
    data = max_burst_cdf.MaxBurstCdf(tuple(zip(found["longest"], found["tests"], strict=True)))
    return draw(max_burst_cdf, data)


@dataclass(frozen=True, slots=True)
class BurstComparison:
    """Our flaky tests with bursts of at most so many, and the published share of such."""

    most: int
    tests: int
    total: int
    low: float
    high: float
    published: float


def _beside(found: dict[str, Any], confidence: float) -> list[BurstComparison]:
    longest, tests = np.array(found["longest"]), np.array(found["tests"])
    total = int(tests.sum())
    rows = []
    for most, published in PUBLISHED:
        within = int(tests[longest <= most].sum())
        low, high = clopper_pearson(np.array([within]), np.array([total]), confidence)
        rows.append(BurstComparison(most, within, total, float(low[0]), float(high[0]), published))
    return rows


# -- the exceptions ----------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class RerunQuery:
    search: str
    sort: str

    @classmethod
    def read(cls, query: QueryDict) -> "RerunQuery":
        return cls(words(query, "q"), sort_asked(query, _SORTS) or _DEARLY)


def exceptions_of(analysis: Analysis | None, columns: Columns) -> Ints:
    """Rows of the tests that need more retries than are recommended."""
    numbers = [] if analysis is None else analysis.summary["retries"]["exceptions"]
    return np.flatnonzero(np.isin(columns["number"], numbers)) if len(columns) else np.zeros(0, dtype=np.int64)


def _chosen(columns: Columns, rows: Ints, query: RerunQuery, project: Project) -> Ints:
    if query.search:
        rows = rows[np.isin(columns["number"][rows], numbers_matching(project.pk, query.search))] if len(rows) else rows
    return sorted_rows(columns, rows, Sort.read(query.sort))


def _named(project: Project, columns: Columns, rows: Ints) -> list[tuple[TestName, TestRow]]:
    tests = test_rows(columns, rows)
    known = names(project.pk, tests=(row.number for row in tests))
    return [(known.test(row.number), row) for row in tests]


HEADERS = (
    *("number", "name", "class", "suite", "file", "state", "failed", "executed", "failed_again", "of_reruns"),
    *("longest_burst", "to_get_past", "advice", "seconds"),
)


def _file_rows(project: Project, columns: Columns, rows: Ints) -> Iterator[list[Any]]:
    for name, row in _named(project, columns, rows):
        yield [
            *(name.number, name.name, name.classname, name.suite, name.file, row.state_name, row.failed, row.executed),
            *(row.again.failed, row.again.of, row.longest_burst, row.reruns.to_get_past),
            *(row.reruns.reasons.get("to_get_past", ""), row.seconds),
        ]


# -- the page ----------------------------------------------------------------------------------------------------


@project_page
def rerun_advice(request: HttpRequest, project: Project) -> HttpResponseBase:
    now, query = page_analysis(project), RerunQuery.read(request.GET)
    exceptions = exceptions_of(now.analysis, now.columns)
    rows = _chosen(now.columns, exceptions, query, project)
    file = exported(request, f"{project.slug}-reruns", HEADERS, _file_rows(project, now.columns, rows))
    if file is not None:
        return file
    page = numbered_page(request.GET, total=len(rows), size=PAGE_SIZE)
    shown = _named(project, now.columns, rows[page.first - 1 : page.last])
    context = {
        "project": project,
        "analysed": now,
        "query": query,
        "exceptions": len(exceptions),
        "page": page,
        "rows": shown,
        "top": max((row.rate.high for _, row in shown if row.rate), default=1.0),
        "lead": _lead(PageContext.read(request, project), now.analysis),
        **(_curves(now.analysis) if now.analysis else {}),
    }
    return render(request, "insights/reruns.html", context)


def _lead(page: PageContext, analysis: Analysis | None) -> SafeString | str:
    if analysis is None:
        return reruns_lead(page, analysed=False, curve={}, steps={}, limit=0)
    curve = analysis.summary["retries"]
    limit = analysis.parameters["rerun_limit"]
    return reruns_lead(page, analysed=True, curve=curve, steps=steps_of(curve), limit=limit)


def _curves(analysis: Analysis) -> dict[str, Any]:
    summary, confidence = analysis.summary, analysis.parameters["confidence"]
    curve, steps = summary["retries"], steps_of(summary["retries"])
    return {
        "curve": curve,
        "best": steps.get(curve["recommended"]),
        "again": summary["rerun_time"],
        "again_published": SPENT_PUBLISHED,
        "most_retries": analysis.parameters["most_retries"],
        "yardsticks": yardsticks(summary),
        "exposure": summary["exposure"],
        "retries_chart": _retries(curve),
        "exposure_chart": _exposure(summary["exposure"]),
        "bursts_chart": _bursts(summary["bursts"]),
        "beside": _beside(summary["bursts"], confidence),
        "others": [(name, clean, excluded_by(clean, confidence)) for name, clean in OTHERS],
        "rare": (_RARE, to_confirm_known(_RARE, confidence)),
        "confidence": confidence,
        "doubt": 1 - confidence,
    }
