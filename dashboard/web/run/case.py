"""One test in one run, with all that its failures said."""

from typing import Any

import numpy as np
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render

from dashboard.web.decorators import project_page, project_part
from dashboard.web.query import number as number_asked
from dashboard.web.recent import note_test
from dashboard.web.run.cases import shown_cases
from dashboard.web.run.run import run_of
from dashboard.web.test.test import test_of
from ingest.attachments.selectors import run_attachments
from ingest.models import Failure, Project, Report, Run, Test
from ingest.selectors import CaseRow, roster_numbers
from ingest.vectors import RETRIED, decode_durations, verdict_of


@project_page
def case_detail(request: HttpRequest, project: Project, run_id: int, number: int) -> HttpResponse:
    context = _context(request, project, run_id, number)
    note_test(request, project, context["test"])
    return render(request, "run/case.html", context)


@project_part
def case_said(request: HttpRequest, project: Project, run_id: int, number: int) -> HttpResponse:
    """What it said, for the run's page to show where it is opened there."""
    return render(request, "run/_attempts.html", _context(request, project, run_id, number))


def _context(request: HttpRequest, project: Project, run_id: int, number: int) -> dict[str, Any]:
    run, test = run_of(project, run_id), test_of(project, number)
    report, case = _find(run, test, number_asked(request.GET, "report", 0))
    shown = shown_cases(report.pk, [case])[0]
    found = {"project": project, "run": run, "test": case.test, "report": report, "shown": shown}
    return {
        **found,
        "attachments": run_attachments(project, [run.pk])[0].get(case.test.alias_of_id or case.test.pk, []),
    }


def _find(run: Run, test: Test, report_id: int) -> tuple[Report, CaseRow]:
    """The test's case in the report that is asked for, else in the first report that has one.

    A test that was renamed is looked for under all its names."""
    now = test.alias_of or test
    names = {name.number: name for name in (now, *now.aliases.all(), test)}
    reports = Report.objects.filter(run=run).order_by("pk")
    for report in reports.filter(pk=report_id) if report_id else reports.iterator(chunk_size=20):
        case = _case(report, names)
        if case is not None:
            return report, case
    raise Http404


def _case(report: Report, names: dict[int, Test]) -> CaseRow | None:
    numbers = roster_numbers(report.roster_id)
    rows = np.flatnonzero(np.isin(numbers, list(names)))
    if not len(rows):
        return None
    row = int(rows[0])
    test = names[int(numbers[row])]
    byte = bytes(report.verdicts)[row]
    seconds = float(decode_durations(bytes(report.durations)[2 * row : 2 * row + 2])[0])
    failures = list(Failure.objects.filter(report=report, test=test).order_by("ordinal", "part"))
    return CaseRow(test, verdict_of(byte), None if np.isnan(seconds) else seconds, bool(byte & RETRIED), failures)
