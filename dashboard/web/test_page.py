"""A test's page put together: its history read once, its conclusions, and the sections that show both."""

from typing import Any

import numpy as np
from django.db.models import Q
from django.http import QueryDict

from analytics.kernel.executions import Flags
from analytics.models import Analysis
from analytics.rerun_advice import rerun_advice
from analytics.rows import TestRow, test_row
from analytics.selectors import test_finding
from dashboard.api.findings import named_finding
from dashboard.charts import rate_trend
from dashboard.charts.labels import counted as amount
from dashboard.web import test_trends
from dashboard.web.analysed import Analysed
from dashboard.web.paging import numbered_page, offset_asked
from dashboard.web.test_decisions import decisions
from dashboard.web.test_evidence import Found, evidence_in, failing_streak
from dashboard.web.test_executions import BRANCHES, Asked, lines, runs_of, strips
from dashboard.web.test_history import Counted, History, counted
from dashboard.web.test_sections import Section, Told, drawn, sections
from dashboard.web.test_sentences import Known, lead
from ingest.models import Project, Rename, Run, Test

LINES_SIZE = 50
_TREND_HEIGHT = 250


def page_of(
    project: Project, test: Test, now: Analysed, history: History, asked: Asked, query: QueryDict
) -> dict[str, Any]:
    """What test.html shows."""
    called = test.alias_of or test
    names = list(called.aliases.order_by("-first_seen"))
    ran, chosen = counted(history), asked.rows(history)
    row, in_window = test_row(now.columns, called.number), now.columns.row(called.number) is not None
    inside = _inside(history, now.analysis)
    streak = failing_streak(history, ran, inside)
    evidence = evidence_in(history, ran, inside)
    page = np.flatnonzero(chosen)[_span(query)].tolist()
    spoken_of = [*page, *evidence.rows, *([] if streak is None else [streak.first, streak.last_pass or streak.first])]
    runs = runs_of(history, spoken_of)
    known = Known(project, now.analysis, row, in_window, history, ran, streak, runs)
    days = test_trends.days_of(history)
    over = test_trends.periods(days[chosen], asked.unit)
    told = _told(project, called, now, row, history, ran, inside, evidence, runs) if in_window else None
    return {
        "project": project,
        "test": test,
        "now": called,
        "names": [one for one in (called, *names) if one.pk != test.pk],
        "renames": _suggested(project, test),
        "analysed": now,
        "row": row if in_window else None,
        "lead": lead(known),
        "asked": asked,
        "branches": BRANCHES,
        "history": history,
        "unit": over.unit,
        "strips": strips(history, ran.where(chosen), chosen),
        "trend": drawn(rate_trend, test_trends.rate_trend(days, ran.where(chosen), over), _TREND_HEIGHT),
        "sections": [*([] if told is None else sections(told)), *_always(project, test, names, now, history, row)],
        "lines": lines(history, page, runs),
        "page": numbered_page(query, total=int(chosen.sum()), size=LINES_SIZE),
    }


def _span(query: QueryDict) -> slice:
    start = offset_asked(query, LINES_SIZE)
    return slice(start, start + LINES_SIZE)


def _inside(history: History, analysis: Analysis | None) -> Flags:
    """Rows that the analysis looked at; all where there is none yet."""
    return history.everything if analysis is None else history.between(analysis.since, analysis.until)


def _suggested(project: Project, test: Test) -> list[Rename]:
    found = Rename.objects.filter(Q(old=test) | Q(new=test), project=project, state=Rename.State.SUGGESTED)
    return list(found.select_related("old", "new"))


def _told(
    project: Project,
    test: Test,
    now: Analysed,
    row: TestRow,
    history: History,
    ran: Counted,
    inside: Flags,
    evidence: Found,
    runs: dict[int, Run],
) -> Told | None:
    """What the analysis keeps of a test that failed; None of another."""
    analysis = now.analysis
    found = test_finding(analysis, test.number)
    if analysis is None or not found:
        return None
    prior = tuple(analysis.summary["prior"])
    days = test_trends.days_of(history)
    rows = sorted(set(evidence.rows))
    return Told(
        test=test,
        analysis=analysis,
        row=row,
        finding=named_finding(project.pk, found),
        advice=rerun_advice(now.columns, test.number, prior, analysis.parameters["confidence"]),
        history=history,
        ran=ran,
        inside=inside,
        evidence=evidence,
        line_of=dict(zip(rows, lines(history, rows, runs), strict=True)),
        days=days,
        over=test_trends.periods(days, ""),
    )


def _always(
    project: Project, test: Test, names: list[Test], now: Analysed, history: History, row: TestRow
) -> list[Section]:
    """Sections that every test has."""
    called = test.alias_of or test
    first_seen = min(one.first_seen for one in (called, *names))
    until = now.analysis.finished_at if now.analysis is not None else None
    age = None if until is None else max((until - first_seen).days, 0)
    about = {"first_seen": first_seen, "age": age, "row": row}
    decided = decisions(project, called, history)
    return [
        Section("executions", "Executions", amount(len(history), "report")),
        Section("about", "About this test", f"number {test.number}", about),
        Section(
            "decisions", "Decisions", amount(len(decided), "decision") if decided else "none yet", {"said": decided}
        ),
    ]
