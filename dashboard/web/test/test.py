"""One test: what is wrong with it, and what do I do?"""

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render

from analytics.history.executions import history_of
from dashboard import access
from dashboard.quarantine.renames import rename_settle
from dashboard.quarantine.services import Actor
from dashboard.quarantine.states import ActorKind
from dashboard.web.analysis import page_analysis
from dashboard.web.decorators import project_deed, project_page
from dashboard.web.export import exported
from dashboard.web.query import number as number_asked
from dashboard.web.recent import note_test
from dashboard.web.test.executions import HEADERS, ExecutionQuery, export_rows
from dashboard.web.test.page import page_of
from ingest.models import Project, Rename, Test
from ingest.renames import RenameRefused

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
    now = page_analysis(project)
    history = history_of(project, test, now.analysis)
    filters = ExecutionQuery.read(request.GET, history)
    rows = export_rows(history, filters.rows(history))
    file = exported(request, f"{project.slug}-test-{test.number}", HEADERS, rows)
    if file is not None:
        return file
    note_test(request, project, test)
    shown = page_of(project, test, now, history, filters, request.GET)
    may = {"may_quarantine": access.user_may(request.user, project, "quarantine")}
    may["may_name"] = access.user_may(request.user, project, "settings")
    return render(request, "test/test.html", {**shown, **may})


@project_deed("decide")
def decide_rename(request: HttpRequest, project: Project, rename_id: int) -> HttpResponse:
    """Accept or dismiss a suggestion, and go back to the test that showed it."""
    rename = (
        Rename.objects.filter(project=project, pk=rename_id).select_related("old", "new__alias_of", "project").first()
    )
    if rename is None:
        raise Http404
    accept = request.POST.get("decision") == "accept"
    try:
        actor = Actor(ActorKind.PERSON, request.user.get_username())
        won = rename_settle(rename=rename, accept=accept, user_id=request.user.pk, actor=actor)
    except RenameRefused as refusal:
        messages.error(request, str(refusal))
    else:
        done = "The two are one test now." if accept else "The suggestion is dismissed: they stay two tests."
        quicker = "Somebody else was quicker: this suggestion was decided before, and nothing was changed."
        messages.success(request, done) if won else messages.warning(request, quicker)
    return redirect("test", slug=project.slug, number=number_asked(request.POST, "test", rename.new.number))
