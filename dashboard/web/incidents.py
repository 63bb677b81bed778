"""Incidents: was it us or the machines? And a person's word on each."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from urllib.parse import urlencode

from django.contrib import messages
from django.db.models import QuerySet
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase, QueryDict
from django.shortcuts import redirect, render
from django.urls import reverse

from analytics.models import Analysis, IncidentDecision, IncidentFinding
from analytics.naming import Names, ReportName, names
from analytics.run_ends import is_incident
from analytics.selectors import incidents_of
from analytics.services import incident_decide
from dashboard.api.refreshes import refresh_now
from dashboard.charts.incident_timeline import TimedIncident
from dashboard.web.analysed import analysed
from dashboard.web.asking import choice, words
from dashboard.web.chances import p_words
from dashboard.web.doors import project_deed, project_page
from dashboard.web.exporting import exported
from dashboard.web.incident_pictures import timeline, trend
from dashboard.web.paging import numbered_page
from dashboard.web.signatures import brief
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
_KEPT = ("decided", "why", "host", "page")
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
        return [WHY[one] for one in self.why]

    @property
    def said(self) -> str:
        return brief(self.signature)

    @property
    def place(self) -> str:
        return ", ".join(f"{name}={value}" for name, value in self.environment.items())

    @property
    def chance(self) -> str:
        return p_words(self.p_value)


@dataclass(frozen=True, slots=True)
class Asked:
    decided: str
    why: str
    host: str

    @classmethod
    def read(cls, query: QueryDict) -> "Asked":
        decided = choice(query, "decided", (OPEN, *Word.values))
        return cls(decided, choice(query, "why", WHY), words(query, "host"))

    @property
    def narrowed(self) -> bool:
        return bool(self.decided or self.why or self.host)

    def narrow(self, found: "QuerySet[IncidentFinding]") -> "QuerySet[IncidentFinding]":
        word = "report__incidentdecision__word"
        if self.decided:
            found = found.filter(**{f"{word}__isnull": True} if self.decided == OPEN else {word: self.decided})
        if self.why:
            found = found.filter(data__why__contains=self.why)
        return found.filter(data__host=self.host) if self.host else found


def told(project: Project, found: list[IncidentFinding]) -> list[Incident]:
    """With names, and what people said: three queries, however many."""
    known = names(
        project.pk, reports=(one.report_id for one in found), signatures=(one.data["signature"] for one in found)
    )
    said = IncidentDecision.objects.filter(report__in=[one.report_id for one in found]).select_related("decided_by")
    decision = {one.report_id: one for one in said}
    every = (_incident(one, known, decision.get(one.report_id)) for one in found)
    return [one for one in every if one is not None]


def _incident(finding: IncidentFinding, known: Names, decision: IncidentDecision | None) -> Incident | None:
    """None where its report was deleted since."""
    data, report = finding.data, known.report(finding.report_id)
    if report is None:
        return None
    kept = ("host", "environment", "failing", "executed", "expected", "p_value", "why", "signature_failures")
    return Incident(
        report=report,
        signature=known.signature(data["signature"]),
        counted=is_incident(data["why"], data["decided"]),
        decision=decision,
        applied=(decision.word if decision else "") == data["decided"],
        **{name: data[name] for name in kept},
    )


def timed(shown: list[Incident]) -> tuple[TimedIncident, ...]:
    """For the time line: each at the start of its report, which has no end of its own."""
    return tuple(
        TimedIncident(
            started=one.report.started_at,
            ended=one.report.started_at,
            host=one.host,
            environment=one.place,
            runs=1,
            tests=one.failing,
            state=one.state,
            signature=one.signature or "",
        )
        for one in shown
    )


# -- the page ----------------------------------------------------------------------------------------------------


@project_page
def incident_list(request: HttpRequest, project: Project) -> HttpResponseBase:
    now, asked = analysed(project), Asked.read(request.GET)
    every = incidents_of(now.analysis)
    found = asked.narrow(every)
    file = exported(request, f"{project.slug}-incidents", HEADERS, _file_rows(project, found))
    if file is not None:
        return file
    page = numbered_page(request.GET, total=found.count(), size=PAGE_SIZE)
    drawn = told(project, list(every[:DRAWN]))
    context = {
        "project": project,
        "analysed": now,
        "asked": asked,
        "whys": WHY,
        "states": (OPEN, *Word.values),
        "hosts": sorted({one.host for one in drawn if one.host}),
        "page": page,
        "incidents": told(project, list(found[page.first - 1 : page.last])),
        "kept": urlencode({name: request.GET[name] for name in _KEPT if name in request.GET}),
        "timeline": timeline(timed(drawn), now.analysis),
        "drawn": DRAWN,
        "trend": trend(now.analysis, _moments(every)),
        **_counts(drawn, every, now.analysis),
    }
    return render(request, "incidents.html", context)


def _moments(every: "QuerySet[IncidentFinding]") -> Iterator[datetime]:
    """When those were that the analysis held for incidents."""
    for started_at, why, decided in every.values_list("report__started_at", "data__why", "data__decided"):
        if is_incident(why, decided):
            yield started_at


def _counts(drawn: list[Incident], every: "QuerySet[IncidentFinding]", analysis: Analysis | None) -> dict[str, Any]:
    """What the first sentence says."""
    runs = analysis.summary["runs"] if analysis else {"incident": 0, "total": 0}
    return {
        "total": every.count() if len(drawn) == DRAWN else len(drawn),
        "open": sum(one.state == OPEN for one in drawn),
        "counted": analysis.summary["incidents"] if analysis else 0,
        "runs": runs,
        "failures": (analysis.excluded if analysis else {}).get("failures inside incidents", 0),
    }


HEADERS = (
    *("report", "run", "started_at", "commit", "branch", "host", "environment", "incident", "failing", "executed"),
    *("expected", "p_value", "why", "signature", "signature_failures", "decided", "decided_by", "decided_at"),
)


def _file_rows(project: Project, found: "QuerySet[IncidentFinding]") -> Iterator[list[Any]]:
    for one in told(project, list(found)):
        said = one.decision
        yield [
            *(one.report.report, one.report.run, one.report.started_at, one.report.commit, one.report.branch),
            *(one.host, one.place, one.counted, one.failing, one.executed, one.expected, one.p_value, one.why),
            *(one.signature, one.signature_failures, said.word if said else None, _who(said)),
            said.decided_at if said else None,
        ]


def _who(said: IncidentDecision | None) -> str | None:
    return said.decided_by.get_username() if said and said.decided_by else None


# -- a person's word ---------------------------------------------------------------------------------------------

_DONE = {
    Word.CONFIRMED: "Confirmed: it was the machines. Its failures are left out of the tests' rates.",
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
    asked = QueryDict(request.POST.get("kept", "")[:2_000])
    return urlencode({name: asked[name] for name in _KEPT if name in asked})
