"""One run: why is this build red?"""

from collections.abc import Iterator
from typing import Any

from django.http import Http404, HttpRequest, QueryDict
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.utils.safestring import SafeString

from analytics.lab.schedules.split_check import split_check
from analytics.likeness.new_tests import new_tests
from analytics.runs.failing_tests import Standing, lead
from analytics.runs.failure_facts import read_red_reports
from analytics.runs.failure_texts import texts_of
from analytics.runs.judgement import JudgedRun, judge
from analytics.runs.last_green import last_green
from analytics.runs.outcomes import in_page_order, outcome_of
from dashboard.quarantine.gate.excuses import excuses_shown
from dashboard.quarantine.gate.run_uploads import not_understood, uploads_behind
from dashboard.quarantine.selectors import decisions_of_run
from dashboard.web.analysis import PageAnalysis, page_analysis
from dashboard.web.decorators import project_page
from dashboard.web.export import exported
from dashboard.web.page_context import PageContext
from dashboard.web.paging import numbered_page, offset_asked
from dashboard.web.query import choice, number, words
from dashboard.web.recent import note_run
from dashboard.web.run.cases import shown_cases
from dashboard.web.run.changes import shown_change
from dashboard.web.run.groups import CASES_SIZE, HEADERS, failure_rows, is_serious, shown_groups
from dashboard.web.run.leads import judged_later, new_tests_lead, retried_lead, run_lead
from ingest.attachments.selectors import run_attachments
from ingest.models import Attempt, Project, Report, Run
from ingest.selectors import report_cases
from ingest.verdict import FAILING, Verdict

REPORTS_SHOWN = 200
RETRIED_SHOWN = 10
GATES_SHOWN = 5
ATTACHMENTS_SHOWN = 50
_VERDICTS = {verdict.name.lower(): verdict for verdict in (Verdict.FAIL, Verdict.ERROR, Verdict.PASS, Verdict.SKIP)}


def run_of(project: Project, run_id: int) -> Run:
    run = Run.objects.filter(project=project, pk=run_id).first()
    if run is None:
        raise Http404
    return run


@project_page
def run_detail(request: HttpRequest, project: Project, run_id: int) -> HttpResponseBase:
    run, now = run_of(project, run_id), page_analysis(project)
    uploads = uploads_behind(run)
    beside = {upload.run_id for upload in uploads if upload.run_id is not None} - {run.pk}
    content = read_red_reports(project, [run.pk], beside)
    gates = list(decisions_of_run(run)[:GATES_SHOWN])
    excuses = excuses_shown(project, run, content.failed_in, next(iter(gates), None))
    judged = judge(project, run, content, now.analysis, now.columns, excuses)
    texts = texts_of(judged, in_page_order(judged))
    file = exported(request, f"{project.slug}-run-{run.pk}", HEADERS, failure_rows(project, judged, now, texts))
    if file is not None:
        return file
    note_run(request, project, run)
    groups = shown_groups(request.GET, project, judged, now, texts)
    numbers = [failure.test.number for section in groups["groups"] for failure in section.failures]
    partial = any(report.partial for report in judged.reports) or bool(not_understood(uploads))
    context = {
        "project": project,
        "run": run,
        "analysed": now,
        "judged": judged,
        "lead": run_lead(lead(outcome_of(judged, texts, partial=partial)), red=judged.red, serious=is_serious(judged)),
        "remarks": list(_remarks(PageContext.read(request, project), judged, now)),
        "gates": gates,
        "split": split_check(project, run),
        "change": shown_change(run),
        "reports": judged.reports[:REPORTS_SHOWN],
        **_new_tests(project, run, judged, now),
        **groups,
        "green": last_green(project, run, judged.reports, numbers, judged.renames) if judged.red else None,
        **_cases(request.GET, judged),
        **_attachments(project, judged),
    }
    return render(request, "run/run.html", context)


def _attachments(project: Project, judged: JudgedRun) -> dict[str, Any]:
    """Files beside its reports: by test, and those of no test."""
    by_test, others = run_attachments(project, judged.run_ids)
    return {"attachments_of": by_test, "other_attachments": others[:ATTACHMENTS_SHOWN]}


def _new_tests(project: Project, run: Run, judged: JudgedRun, now: PageAnalysis) -> dict[str, Any]:
    """What a pull request brings, with what is thought of it."""
    found = new_tests(project, run, judged.reports, now.analysis)
    if not found or now.analysis is None:
        return {}
    return {"new_tests": found, "new_tests_lead": new_tests_lead(found, now.analysis.summary["prediction"])}


def _remarks(page: PageContext, judged: JudgedRun, now: PageAnalysis) -> Iterator[SafeString]:
    """What else to know before reading on."""
    if judged.red and judged.standing is Standing.AFTER:
        yield judged_later(now.analysis.finished_at if now.analysis else None)
    if retried := _retried_away(judged):
        yield retried_lead(page, judged.run.pk, retried[:RETRIED_SHOWN], len(retried))


def _retried_away(judged: JudgedRun) -> list[tuple[int, str]]:
    """Number and name of each test that failed and passed on a retry."""
    reports = [report.pk for report in judged.reports if report.attempts > report.tests]
    failed = Attempt.objects.filter(report__in=reports, verdict__in=FAILING) if reports else Attempt.objects.none()
    fields = ("test__number", "test__alias_of__number", "test__name")
    name_of = {
        now or stored: name
        for stored, now, name in failed.order_by("test__number").values_list(*fields).distinct()
        if (now or stored) not in judged.groups
    }
    return list(name_of.items())


# -- all tests ---------------------------------------------------------------------------------------------------


def report_of(judged: JudgedRun, report_id: int) -> Report | None:
    """The report that is asked for; by default the first with a failure, else the first."""
    if report_id:
        return next((report for report in judged.reports if report.pk == report_id), None)
    red = (report for report in judged.reports if report.failed or report.errored)
    return next(red, None) or next(iter(judged.reports), None)


def _cases(query: QueryDict, judged: JudgedRun) -> dict[str, Any]:
    """The cases that the URL asks for, and what it asks. On a red run they are listed where somebody asks."""
    report = report_of(judged, number(query, "report", 0))
    verdict, search = choice(query, "verdict", _VERDICTS), words(query, "q")
    parameters = {"report": report, "verdict": verdict, "verdicts": list(_VERDICTS), "search": search}
    listed = not judged.red or any(query.get(name) for name in ("show", "verdict", "q", "report"))
    if report is None or not listed or query.get("group"):
        return {**parameters, "listed": False}
    offset = offset_asked(query, CASES_SIZE)
    found = report_cases(report, verdict=_VERDICTS.get(verdict), search=search, offset=offset, limit=CASES_SIZE)
    page = numbered_page(query, total=found.total, size=CASES_SIZE)
    return {**parameters, "listed": True, "cases": shown_cases(report.pk, found.rows), "page": page}
