"""A test's page put together: its history read once, its conclusions, and the sections that show both."""

from collections.abc import Callable
from datetime import date
from functools import partial
from typing import Any

import numpy as np
from django.db.models import Q
from django.http import QueryDict
from django.urls import reverse

from analytics.columns.rows import test_row
from analytics.history.evidence import EvidenceRows, Streak, evidence_in, failing_streak
from analytics.history.executions import CountedExecutions, History, counted
from analytics.history.named_findings import named_finding
from analytics.kernel.executions import Flags
from analytics.models import Analysis
from analytics.rerun_advice import rerun_advice
from analytics.selectors import test_finding
from analytics.wording import counted as amount
from dashboard.charts import rate_trend
from dashboard.charts.figure import Chart, draw
from dashboard.quarantine.labels.models import TestNote
from dashboard.quarantine.labels.selectors import labels_of
from dashboard.web.analysis import PageAnalysis
from dashboard.web.paging import numbered_page, offset_asked
from dashboard.web.test import trends
from dashboard.web.test.decisions import decisions, quarantine_panel
from dashboard.web.test.dependencies import dependency_section
from dashboard.web.test.differences import difference_section
from dashboard.web.test.executions import BRANCHES, ExecutionQuery, lines, runs_of, strips
from dashboard.web.test.likeness import likeness_section
from dashboard.web.test.sections import FailedTest, Section, opened, sections
from dashboard.web.test.sentences import LeadFacts, lead
from dashboard.web.test.values import value_section
from dashboard.web.test.waits import waits_section
from ingest.models import Project, Rename, Test

LINES_SIZE = 30
_TREND_HEIGHT = 200


def page_of(
    project: Project, test: Test, now: PageAnalysis, history: History, filters: ExecutionQuery, query: QueryDict
) -> dict[str, Any]:
    """What test.html shows."""
    called = history.names[0]
    ran, inside = counted(history), _inside(history, now.analysis)
    shown = np.flatnonzero(filters.rows(history))[_span(query)].tolist()
    evidence, streak = evidence_in(history, ran, inside), failing_streak(history, ran, inside)
    runs = runs_of(history, [*shown, *evidence.rows, *_ends(streak)])
    depends, latent = dependency_section(project, history, now.columns)
    known = LeadFacts(
        project=project,
        analysis=now.analysis,
        row=test_row(now.columns, called.number),
        in_window=now.columns.row(called.number) is not None,
        history=history,
        ran=ran.where(inside),
        streak=streak,
        runs=runs,
        latent=latent,
    )
    page = reverse("test", args=(project.slug, called.number))
    failed_test = _failed_test(now, known, evidence, partial(ExecutionQuery("", "", "").address, page))
    like = likeness_section(project, now, called.test_name, known.row)
    return {
        **_names(project, test),
        **quarantine_panel(project, called),
        **_strip_and_trend(history, ran, filters, page),
        "analysed": now,
        "row": known.row if known.in_window else None,
        "lead": lead(known),
        "latent": latent,
        "sections": opened(
            [
                *_of_failed_test(project, test, failed_test),
                *waits_section(project, history, known.row.state.is_flaky_or_recovered),
                *_values(test, failed_test),
                depends,
                *([] if like is None else [like]),
                *_always(test, known),
            ]
        ),
        "lines": lines(history, shown, runs).values(),
        "page": numbered_page(query, total=int(filters.rows(history).sum()), size=LINES_SIZE),
    }


def _of_failed_test(project: Project, test: Test, failed_test: FailedTest | None) -> list[Section]:
    """Sections of a test that failed, with what differs then behind the evidence."""
    found = [] if failed_test is None else list(sections(failed_test))
    differs = difference_section(project, test.alias_of or test, failed=failed_test is not None)
    place = next((place for place, section in enumerate(found, 1) if section.id == "evidence"), 0)
    return found if differs is None else [*found[:place], differs, *found[place:]]


def _ends(streak: Streak | None) -> list[int]:
    """Rows of the history that a streak speaks of."""
    return [] if streak is None else [row for row in (streak.first, streak.last_pass) if row is not None]


def _span(query: QueryDict) -> slice:
    start = offset_asked(query, LINES_SIZE)
    return slice(start, start + LINES_SIZE)


def _inside(history: History, analysis: Analysis | None) -> Flags:
    """Rows that the analysis looked at; all where there is none yet."""
    return history.everything if analysis is None else history.between(analysis.since, analysis.until)


def _names(project: Project, test: Test) -> dict[str, Any]:
    suggested = Rename.objects.filter(Q(old=test) | Q(new=test), project=project, state=Rename.State.SUGGESTED)
    return {
        "project": project,
        "test": test,
        "now": test.alias_of or test,
        "renames": suggested.select_related("old", "new"),
    }


def _strip_and_trend(history: History, ran: CountedExecutions, filters: ExecutionQuery, page: str) -> dict[str, Any]:
    """The executions that the URL asks for, one by one and by day or week."""
    chosen, days = filters.rows_of_all_days(history), trends.days_of(history)
    ran, over = ran.where(chosen), trends.periods(days[chosen], filters.unit)
    listed = over.addresses(partial(filters.address, page))
    return {
        "query": filters,
        "branches": BRANCHES,
        "history": history,
        "strips": strips(history, ran.firsts, chosen),
        "trend": _low(draw(rate_trend, trends.rate_trend(days, ran.firsts, over, listed), _TREND_HEIGHT)),
        "unit": over.unit,
    }


def _low(trend: Chart) -> Chart:
    """A low picture has room for short axis titles only; the caption says the rest."""
    if trend.figure is not None:
        trend.figure["layout"]["yaxis"]["title"]["text"] = "failure rate"
        trend.figure["layout"]["yaxis2"]["title"]["text"] = ""
    return trend


def _failed_test(
    now: PageAnalysis, known: LeadFacts, evidence: EvidenceRows, address: Callable[[date, date], str]
) -> FailedTest | None:
    """What the analysis keeps about the test, or None if it did not fail; `address` lists executions of some days."""
    analysis, history, number = now.analysis, known.history, known.row.number
    found = test_finding(analysis, number) if known.in_window else {}
    if analysis is None or not found:
        return None
    prior, confidence = analysis.summary["prior"], analysis.parameters["confidence"]
    days = trends.days_of(history)
    over = trends.periods(days, "")
    return FailedTest(
        project=known.project,
        analysis=analysis,
        row=known.row,
        finding=named_finding(known.project.pk, found),
        advice=rerun_advice(now.columns, number, prior, confidence),
        history=history,
        ran=known.ran,
        evidence=evidence,
        streak=known.streak,
        line_of=lines(history, [*evidence.rows, *_ends(known.streak)], known.runs),
        days=days,
        over=over,
        periods=over.addresses(address),
    )


def _values(test: Test, failed_test: FailedTest | None) -> list[Section]:
    """The values that its assertions compare, if there are any or a cause asks for them."""
    causes = [] if failed_test is None else failed_test.finding["causes"]
    section = value_section(test.alias_of or test, frozenset(cause["category"] for cause in causes))
    return [] if section is None else [section]


def _always(test: Test, known: LeadFacts) -> list[Section]:
    """Sections that every test has."""
    names = known.history.names
    first_seen = min(name.first_seen for name in names)
    analysis = known.analysis
    age = None if analysis is None else max((analysis.finished_at - first_seen).days, 0)
    others = [name for name in names if name.pk != test.pk]
    now = test.alias_of or test
    about = {
        "first_seen": first_seen,
        "age": age,
        "row": known.row,
        "others": others,
        "labels": labels_of(known.project, [now.number]).get(now.number, []),
        "notes": TestNote.objects.filter(Q(test=now) | Q(test__alias_of=now)).order_by("-at", "-pk"),
    }
    decided = decisions(known.project, known.history)
    how_many = amount(len(decided), "decision") if decided else "none yet"
    return [
        Section("executions", "Executions", amount(len(known.history), "report")),
        Section("about", "About this test", f"number {test.number}", about),
        Section("decisions", "Decisions", how_many, {"decisions": decided}),
    ]
