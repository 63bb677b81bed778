"""One test: what is wrong with it, and what do I do?"""

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render

from dashboard import access
from dashboard.web.analysed import analysed
from dashboard.web.asking import number as number_asked
from dashboard.web.doors import project_deed, project_page
from dashboard.web.exporting import exported
from dashboard.web.recent import note_test
from dashboard.web.test_executions import HEADERS, Asked, export_rows
from dashboard.web.test_history import history_of
from dashboard.web.test_page import page_of
from ingest.models import Project, Rename, Test
from ingest.renaming import RenameRefused, rename_decide

_NUMBERS = 2**31
"""Test numbers are below this: PostgreSQL takes no greater one."""


def test_of(project: Project, number: int) -> Test:
    found = Test.objects.filter(project=project, number=number) if number < _NUMBERS else Test.objects.none()
    test = found.select_related("alias_of").first()
    if test is None:
        raise Http404
    return test


@project_page
def test_detail(request: HttpRequest, project: Project, number: int) -> HttpResponseBase:
    test = test_of(project, number)
    now = analysed(project)
    history = history_of(project, test, now.analysis)
    asked = Asked.read(request.GET, history)
    rows = export_rows(history, asked.rows(history))
    file = exported(request, f"{project.slug}-test-{test.number}", HEADERS, rows)
    if file is not None:
        return file
    note_test(request, project, test)
    shown = page_of(project, test, now, history, asked, request.GET)
    may = {"may_quarantine": access.user_may(request.user, project, "quarantine")}
    may["may_name"] = access.user_may(request.user, project, "settings")
    return render(request, "test.html", {**shown, **may})


@project_deed("decide")
def decide_rename(request: HttpRequest, project: Project, rename_id: int) -> HttpResponse:
    """Accept or dismiss a suggestion, and go back to the test that showed it."""
    rename = Rename.objects.filter(project=project, pk=rename_id).select_related("old", "new").first()
    if rename is None:
        raise Http404
    accept = request.POST.get("decision") == "accept"
    try:
        won = rename_decide(rename=rename, accept=accept, user_id=request.user.pk)
    except RenameRefused as refusal:
        messages.error(request, str(refusal))
    else:
        done = "The two are one test now." if accept else "The suggestion is dismissed: they stay two tests."
        quicker = "Somebody else was quicker: this suggestion was decided before, and nothing was changed."
        messages.success(request, done) if won else messages.warning(request, quicker)
    return redirect("test", slug=project.slug, number=number_asked(request.POST, "test", rename.new.number))
