"""Overview: is it getting better?"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Any

import numpy as np
from django.db.models.fields.json import KeyTransform
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse

from analytics.columns.codec import Columns
from analytics.columns.query import Choice, Sort, chosen_rows, sorted_rows
from analytics.columns.rows import TestRow, test_rows
from analytics.history.names import Names, TestName, names
from analytics.kernel.rates import clopper_pearson
from analytics.lab.due import experiment_due
from analytics.likeness.selectors import track_record
from analytics.models import Analysis, IncidentFinding
from analytics.money import Prices, prices_of
from analytics.selectors import analyses_of, priorities_of
from dashboard import access
from dashboard.charts import rate_trend, runs_per_day
from dashboard.charts.figure import draw
from dashboard.charts.rate import Rate
from dashboard.people.default_branch import branch_question
from dashboard.quarantine.selectors import quarantined
from dashboard.web.analysis import PageAnalysis, page_analysis
from dashboard.web.decorators import project_page
from dashboard.web.insights.clusters import rows_by_cluster
from dashboard.web.insights.leads import halves_lead, hidden_lead, no_runs_lead, overview_lead, predictions_lead
from dashboard.web.page_context import PageContext
from ingest.models import Project, Run

FIXES_SHOWN = 5
NEWEST_SHOWN = 5
INCIDENTS_SHOWN = 3
_FIRST_DAY = date(1970, 1, 1)
_ENDS = ("passed", "regression", "broken", "flaky", "incident")
_STATES = ("flaky", "suspect", "broken", "recovered", "stable", "unexecuted")
"""In the order in which they ask for attention."""


@project_page
def overview(request: HttpRequest, project: Project) -> HttpResponse:
    now, page = page_analysis(project), PageContext.read(request, project)
    any_run = _any_run(project, now.analysis)
    context = {
        "project": project,
        "analysed": now,
        "any_run": any_run,
        "quarantined": quarantined(project.pk),
        "branch_question": branch_question(project),
        "due": experiment_due(project),
        "may_set": access.user_may(request.user, project, "settings"),
    }
    if any_run:
        context["lead"] = no_runs_lead(page, analysed=now.analysis is not None, outdated=now.outdated)
    if now.analysis is not None:
        context |= _concluded(project, now.analysis, now)
        if now.analysis.summary["runs"]["total"]:
            likely = len(chosen_rows(now.columns, Choice(prediction="likely")))
            context |= _leads(page, now.analysis.summary, project.pk, likely)
    return render(request, "insights/overview.html", context)


def _any_run(project: Project, analysis: Analysis | None) -> bool:
    known = analysis is not None and analysis.runs > 0
    return known or Run.objects.filter(project=project).exists()


def no_commits(project: Project, analysis: Analysis | None) -> bool:
    """Nothing is flaky, and nothing could be: a revision is known of no run."""
    if analysis is None or not analysis.runs or analysis.summary["states"]["flaky"]:
        return False
    return not Run.objects.filter(project=project).exclude(commit="", tree="").exists()


def _concluded(project: Project, analysis: Analysis, now: PageAnalysis) -> dict[str, Any]:
    """What the analysis says, as the page shows it."""
    fixes, newest = _fixes(analysis, now.columns, prices_of(project)), newest_flaky(now.columns, NEWEST_SHOWN)
    numbers = [*(fix["number"] for fix in fixes), *(row.number for row in newest)]
    known = names(project.pk, tests=numbers)
    states = analysis.summary["states"]
    return {
        "runs": analysis.summary["runs"],
        "states": [(name, states[name]) for name in _STATES],
        "no_commits": no_commits(project, analysis),
        "incidents": _incidents(analysis),
        "fixes": [{**fix, "name": known.test(fix["number"])} for fix in fixes],
        "newest": named(newest, known),
        **_charts(project, analysis.summary["days"]),
    }


def _leads(page: PageContext, summary: dict[str, Any], project_id: int, likely: int) -> dict[str, Any]:
    by_halves = halves(summary["days"])
    return {
        "lead": overview_lead(page, summary["runs"], summary["most"], summary["blocked"]),
        "halves": halves_lead(by_halves) if by_halves else None,
        "hidden": hidden_lead(page, summary["hidden"]) if "hidden" in summary else "",
        "predictions": predictions_lead(page, summary["prediction"], likely, track_record(project_id)),
    }


def named(rows: Sequence[TestRow], known: Names) -> list[tuple[TestRow, TestName]]:
    return [(row, known.test(row.number)) for row in rows]


# -- is it getting better ----------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Halves:
    """Runs that flakiness alone failed, in the older and in the newer half of the window."""

    since: date
    before: Rate
    after: Rate

    @property
    def change(self) -> str:
        """Better or worse only where the intervals do not touch."""
        if self.after.high < self.before.low:
            return "better"
        return "worse" if self.after.low > self.before.high else ""


def halves(days: list[dict[str, int]]) -> Halves | None:
    """The window by halves; None where one of them has no runs."""
    if not days:
        return None
    middle = (days[0]["day"] + days[-1]["day"] + 1) // 2
    before, after = (flaky_runs([day for day in days if (day["day"] >= middle) is newer]) for newer in (False, True))
    return Halves(_day(middle), before, after) if before.total and after.total else None


def flaky_runs(days: list[dict[str, int]]) -> Rate:
    """Of the runs of these days, those that flakiness alone failed."""
    return rate_of(sum(day["flaky"] for day in days), sum(day[end] for day in days for end in _ENDS))


def rate_told(runs: dict[str, Any]) -> Rate:
    """The same of a whole window, as its analysis says it."""
    return Rate(runs["flaky"], runs["total"], runs["flaky_low"] or 0.0, runs["flaky_high"] or 0.0)


def rate_of(hits: int, total: int) -> Rate:
    low, high = clopper_pearson(np.array([hits]), np.array([total]), 0.95)
    return Rate(hits, total, float(low[0]) if total else 0.0, float(high[0]) if total else 0.0)


def _day(number: int) -> date:
    return _FIRST_DAY + timedelta(days=number)


# -- pictures ----------------------------------------------------------------------------------------------------


def _charts(project: Project, days: list[dict[str, int]]) -> dict[str, Any]:
    per_day = runs_per_day.RunsPerDay(
        tuple(runs_per_day.DayOfRuns(_day(day["day"]), **{end: day[end] for end in _ENDS}) for day in days),
        reverse("runs", args=(project.slug,)),
    )
    rates = tuple(
        rate_trend.DayRate(
            _day(day["day"]),
            rate_of(day["flaky_failed"], day["flaky_executed"]),
            per_day.address(_day(day["day"])) or "",
        )
        for day in days
    )
    trend, past = rate_trend.RateTrend(rates), _past(project)
    return {
        "per_day": draw(runs_per_day, per_day),
        "trend": draw(rate_trend, trend),
        "past": draw(rate_trend, past) if len(past.days) > 1 else None,
    }


def _past(project: Project) -> rate_trend.RateTrend:
    """The rate of each day's last analysis, oldest first."""
    analyses = analyses_of(project.pk).filter(summary__has_key="runs")
    by_day: dict[date, Rate] = {}
    for finished_at, runs in analyses.values_list(
        "finished_at", KeyTransform("runs", "summary")
    ):  # newest first: the last analysis of a day speaks for it
        by_day.setdefault(finished_at.date(), rate_told(runs))
    return rate_trend.RateTrend(
        tuple(rate_trend.DayRate(*day_rate) for day_rate in sorted(by_day.items())), unit="runs"
    )


# -- what to look at ---------------------------------------------------------------------------------------------


def newest_flaky(columns: Columns, most: int) -> list[TestRow]:
    """Flaky tests, those that turned flaky last first."""
    rows = chosen_rows(columns, Choice(state="flaky"))
    return test_rows(columns, sorted_rows(columns, rows, Sort("flaky_since", descending=True))[:most])


def _fixes(analysis: Analysis, columns: Columns, prices: Prices) -> list[dict[str, Any]]:
    """The first things to fix, each with the `number` of its test or cluster and its `size` in tests."""
    size = {cluster: len(rows) for cluster, rows in rows_by_cluster(columns).items()}
    return [
        {
            **priority,
            "number": priority["cluster"] if priority["test"] is None else priority["test"],
            "size": size.get(priority["cluster"], 1),
            "money": prices.money(priority),
        }
        for priority in priorities_of(analysis, FIXES_SHOWN)
    ]


def _incidents(analysis: Analysis) -> dict[str, Any]:
    """Incidents that nobody has confirmed or rejected yet, newest first."""
    found = IncidentFinding.objects.filter(analysis=analysis, report__incidentdecision=None)
    fields = ("report__placed_at", "data__run", "data__failing", "data__executed", "data__host")
    newest = list(found.order_by("-report__placed_at", "-pk").values_list(*fields))
    return {"open": len(newest), "newest": newest[:INCIDENTS_SHOWN]}
