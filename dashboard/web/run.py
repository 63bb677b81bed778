"""One run: why is this build red?"""

from typing import Any

from django.http import Http404, HttpRequest, HttpResponse, QueryDict
from django.shortcuts import render

from dashboard.web.asking import choice, number, words
from dashboard.web.cases import shown_cases
from dashboard.web.doors import project_page
from dashboard.web.paging import numbered_page, offset_asked
from dashboard.web.runs import run_totals
from ingest.models import Project, Report, Run
from ingest.selectors import report_cases
from ingest.verdict import Verdict

CASES_SIZE = 100
REPORTS_SHOWN = 200
_VERDICTS = {verdict.name.lower(): verdict for verdict in (Verdict.FAIL, Verdict.ERROR, Verdict.PASS, Verdict.SKIP)}


def run_of(project: Project, run_id: int) -> Run:
    run = Run.objects.filter(project=project, pk=run_id).first()
    if run is None:
        raise Http404
    return run


def report_of(run: Run, report_id: int) -> Report | None:
    """The report that is asked for; by default the first with a failure, else the first."""
    reports = Report.objects.filter(run=run).order_by("pk")
    if report_id:
        return reports.filter(pk=report_id).first()
    return reports.exclude(failed=0, errored=0).first() or reports.first()


@project_page
def run_detail(request: HttpRequest, project: Project, run_id: int) -> HttpResponse:
    run = run_of(project, run_id)
    report = report_of(run, number(request.GET, "report", 0))
    reports = Report.objects.filter(run=run).defer("verdicts", "durations", "order").order_by("pk")
    context = {
        "project": project,
        "run": run,
        "totals": run_totals([run.pk]).get(run.pk),
        "reports": reports[:REPORTS_SHOWN],
        "report": report,
        **(_cases(report, request.GET) if report is not None else {}),
    }
    return render(request, "run.html", context)


def _cases(report: Report, asked: QueryDict) -> dict[str, Any]:
    """The cases that the URL asks for, and what it asks."""
    verdict, search = choice(asked, "verdict", _VERDICTS), words(asked, "q")
    offset = offset_asked(asked, CASES_SIZE)
    found = report_cases(report, verdict=_VERDICTS.get(verdict), search=search, offset=offset, limit=CASES_SIZE)
    return {
        "cases": shown_cases(report, found.rows),
        "page": numbered_page(asked, total=found.total, size=CASES_SIZE),
        "verdict": verdict,
        "verdicts": list(_VERDICTS),
        "search": search,
    }
