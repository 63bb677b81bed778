"""Incidents: was it us or the machines? And a person's word on each."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from typing import Any
from urllib.parse import urlencode

from django.contrib import messages
from django.db.models import QuerySet
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase, QueryDict
from django.shortcuts import redirect, render
from django.urls import reverse

from analytics.history.names import Names, ReportName, names
from analytics.models import Analysis, IncidentDecision, IncidentFinding
from analytics.runs.incident_findings import is_incident
from analytics.selectors import incidents_of
from analytics.services import incident_decide
from analytics.wording import brief, p_words
from dashboard.charts.incident_timeline import TimedIncident
from dashboard.tasks import refresh_now
from dashboard.web.analysis import page_analysis
from dashboard.web.decorators import project_deed, project_page
from dashboard.web.export import exported
from dashboard.web.insights.incident_charts import timeline, trend
from dashboard.web.insights.leads import incidents_lead
from dashboard.web.page_context import PageContext
from dashboard.web.paging import numbered_page
from dashboard.web.query import choice, day, words
from ingest.models import Project, Report

PAGE_SIZE = 50
DRAWN = 300
"""Incidents on the time line, the newest; more would hide each other."""
Word = IncidentDecision.Word
OPEN = "open"
WHY = {
    "bulk": ("many at once", "Many tests and a large share of them failed at once."),
    "improbable": ("beyond chance", "More tests failed, across suites, than their own rates explain."),
    "environment": ("names the machine", "Most failures name the environment, such as connection refused."),
}
"""Rule -> in short, and as a sentence."""
_KEPT = ("decided", "why", "host", "week", "page")
"""What of the page's question a decision comes back to."""


# -- the list ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Incident:
    """A report whose failures belong to the machines, by our rules or by a person's word."""

    report: ReportName
    host: str
    environment: dict[str, str]
    failing: int
    executed: int
    expected: float | None
    beyond: float | None
    """Failing tests beyond those that were expected to."""
    p_value: float | None
    why: list[str]
    signature: str | None
    signature_failures: int
    counted: bool
    """The analysis left its failures out."""
    decision: IncidentDecision | None
    applied: bool
    """The analysis knows that decision."""

    @property
    def state(self) -> str:
        return self.decision.word if self.decision else OPEN

    @property
    def reasons(self) -> list[tuple[str, str]]:
        return [WHY[reason] for reason in self.why]

    @property
    def message(self) -> str:
        return brief(self.signature)

    @property
    def place(self) -> str:
        return ", ".join(f"{name}={value}" for name, value in self.environment.items())

    @property
    def chance(self) -> str:
        return p_words(self.p_value)


@dataclass(frozen=True, slots=True)
class IncidentQuery:
    decided: str
    why: str
    host: str
    week: date | None
    """Its first day, in UTC."""

    @classmethod
    def read(cls, query: QueryDict) -> "IncidentQuery":
        decided = choice(query, "decided", (OPEN, *Word.values))
        return cls(decided, choice(query, "why", WHY), words(query, "host"), day(query, "week"))

    @property
    def narrowed(self) -> bool:
        return bool(self.decided or self.why or self.host or self.week)

    def narrow(self, found: "QuerySet[IncidentFinding]") -> "QuerySet[IncidentFinding]":
        word = "report__incidentdecision__word"
        if self.decided:
            found = found.filter(**{f"{word}__isnull": True} if self.decided == OPEN else {word: self.decided})
        if self.why:
            found = found.filter(data__why__contains=self.why)
        if self.week:
            begin = datetime.combine(self.week, time.min, UTC)
            found = found.filter(report__placed_at__gte=begin, report__placed_at__lt=begin + timedelta(weeks=1))
        return found.filter(data__host=self.host) if self.host else found


def told(project: Project, found: list[IncidentFinding]) -> list[Incident]:
    """The incidents with names and people's decisions, read in three queries."""
    reports = [finding.report_id for finding in found]
    known = names(project.pk, reports=reports, signatures=(finding.data["signature"] for finding in found))
    decisions = IncidentDecision.objects.filter(report__in=reports).select_related("decided_by")
    decision = {row.report_id: row for row in decisions}
    every = (_incident(finding, known, decision.get(finding.report_id)) for finding in found)
    return [incident for incident in every if incident is not None]


def _incident(finding: IncidentFinding, known: Names, decision: IncidentDecision | None) -> Incident | None:
    """None where its report was deleted since."""
    data, report = finding.data, known.report(finding.report_id)
    if report is None:
        return None
    kept = ("host", "environment", "failing", "executed", "expected", "beyond", "p_value", "why", "signature_failures")
    return Incident(
        report=report,
        signature=known.signature(data["signature"]),
        counted=is_incident(data["why"], data["decided"]),
        decision=decision,
        applied=(decision.word if decision else "") == data["decided"],
        **{name: data[name] for name in kept},
    )


def timed(project: Project, shown: list[Incident]) -> tuple[TimedIncident, ...]:
    """The incidents for the timeline, each starting and ending when its report was placed."""
    return tuple(
        TimedIncident(
            started=incident.report.placed_at,
            ended=incident.report.placed_at,
            host=incident.host,
            environment=incident.place,
            runs=1,
            tests=incident.failing,
            state=incident.state,
            signature=incident.signature or "",
            address=reverse("run", args=(project.slug, incident.report.run)),
        )
        for incident in shown
    )


# -- the page ----------------------------------------------------------------------------------------------------


@project_page
def incident_list(request: HttpRequest, project: Project) -> HttpResponseBase:
    now, query = page_analysis(project), IncidentQuery.read(request.GET)
    every = incidents_of(now.analysis)
    found = query.narrow(every)
    file = exported(request, f"{project.slug}-incidents", HEADERS, _file_rows(project, found))
    if file is not None:
        return file
    page = numbered_page(request.GET, total=found.count(), size=PAGE_SIZE)
    drawn = told(project, list(every[:DRAWN]))
    context = {
        "project": project,
        "analysed": now,
        "query": query,
        "whys": WHY,
        "states": (OPEN, *Word.values),
        "hosts": sorted({incident.host for incident in drawn if incident.host}),
        "page": page,
        "incidents": told(project, list(found[page.first - 1 : page.last])),
        "kept": urlencode({name: request.GET[name] for name in _KEPT if name in request.GET}),
        "timeline": timeline(timed(project, drawn), now.analysis),
        "drawn": DRAWN,
        "trend": trend(now.analysis, _moments(every), reverse("incidents", args=(project.slug,))),
        **_counts(PageContext.read(request, project), drawn, every, now.analysis),
    }
    return render(request, "insights/incidents.html", context)


def _moments(every: "QuerySet[IncidentFinding]") -> Iterator[datetime]:
    """When those were that the analysis held for incidents."""
    for placed_at, why, decided in every.values_list("report__placed_at", "data__why", "data__decided"):
        if is_incident(why, decided):
            yield placed_at


def _counts(
    page: PageContext, drawn: list[Incident], every: "QuerySet[IncidentFinding]", analysis: Analysis | None
) -> dict[str, Any]:
    """How many there are, and the page's first sentence."""
    total = every.count() if len(drawn) == DRAWN else len(drawn)
    lead = incidents_lead(
        page,
        analysed=analysis is not None,
        total=total,
        runs=analysis.summary["runs"] if analysis else {},
        reports=analysis.summary["incidents"] if analysis else 0,
        failures=(analysis.excluded if analysis else {}).get("failures inside incidents", 0),
        undecided=sum(incident.state == OPEN for incident in drawn),
    )
    return {"total": total, "lead": lead}


HEADERS = (
    *(
        "report",
        "run",
        "placed_at",
        "started_at",
        "commit",
        "branch",
        "host",
        "environment",
        "incident",
        "failing",
        "executed",
    ),
    *("expected", "beyond", "p_value", "why", "signature", "signature_failures", "decided", "decided_by", "decided_at"),
)


def _file_rows(project: Project, found: "QuerySet[IncidentFinding]") -> Iterator[list[Any]]:
    for incident in told(project, list(found)):
        decision = incident.decision
        yield [
            *(incident.report.report, incident.report.run, incident.report.placed_at, incident.report.started_at),
            *(incident.report.commit, incident.report.branch),
            *(incident.host, incident.place, incident.counted),
            *(incident.failing, incident.executed, incident.expected, incident.beyond, incident.p_value),
            incident.why,
            *(incident.signature, incident.signature_failures, decision.word if decision else None, _who(decision)),
            decision.decided_at if decision else None,
        ]


def _who(decision: IncidentDecision | None) -> str | None:
    return decision.decided_by.get_username() if decision and decision.decided_by else None


# -- a person's word ---------------------------------------------------------------------------------------------

_DONE = {
    Word.CONFIRMED: "Confirmed as an infrastructure incident. Its failures do not count in the tests' rates.",
    Word.REJECTED: "Rejected: its failures count for the tests again.",
    "": "Taken back: the rules decide again.",
}


@project_deed("decide")
def decide(request: HttpRequest, project: Project, report_id: int) -> HttpResponse:
    """Keep a person's word on a report and ask for the analysis that applies it; then back to the list."""
    report = Report.objects.filter(project=project, pk=report_id).only("pk").first()
    word = request.POST.get("word")
    if report is None or word not in _DONE:
        raise Http404
    incident_decide(project=project, report=report, word=word, user_id=request.user.pk)
    refresh_now(project)
    messages.success(request, f"{_DONE[word]} A new analysis is asked for.")
    return redirect(f"{reverse('incidents', args=(project.slug,))}?{_back(request)}#report-{report.pk}")


def _back(request: HttpRequest) -> str:
    """The list as it was narrowed down, out of the form; what is not ours to keep is dropped."""
    query = QueryDict(request.POST.get("kept", "")[:2_000])
    return urlencode({name: query[name] for name in _KEPT if name in query})
