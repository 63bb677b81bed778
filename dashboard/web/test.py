"""One test: what happened to it lately, and what it was called before."""

from django.contrib import messages
from django.db.models import Q
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_POST

from dashboard.web.asking import number as number_asked
from dashboard.web.doors import project_page
from ingest.models import Project, Rename, Run, Test
from ingest.renaming import RenameRefused, rename_decide
from ingest.selectors import Execution, test_history
from ingest.verdict import Verdict

EXECUTIONS_SHOWN = 200


def test_of(project: Project, number: int) -> Test:
    test = Test.objects.filter(project=project, number=number).select_related("alias_of").first()
    if test is None:
        raise Http404
    return test


@project_page
def test_detail(request: HttpRequest, project: Project, number: int) -> HttpResponse:
    test = test_of(project, number)
    history = test_history(test, limit=EXECUTIONS_SHOWN)
    runs = Run.objects.in_bulk({execution.run_id for execution in history})
    now = test.alias_of or test
    suggested = Rename.objects.filter(Q(old=test) | Q(new=test), project=project, state=Rename.State.SUGGESTED)
    context = {
        "project": project,
        "test": test,
        "now": now,
        "other_names": now.aliases.exclude(pk=test.pk).order_by("-first_seen"),
        "executions": [(execution, runs[execution.run_id]) for execution in history],
        "counts": _counts(history),
        "limit": EXECUTIONS_SHOWN,
        "renames": suggested.select_related("old", "new"),
    }
    return render(request, "test.html", context)


def _counts(history: list[Execution]) -> dict[str, int]:
    """Failures of executions: a skipped test was not executed, so it is counted apart."""
    skipped = sum(execution.verdict is Verdict.SKIP for execution in history)
    return {
        "failed": sum(execution.verdict.failing for execution in history),
        "executed": len(history) - skipped,
        "skipped": skipped,
        "all": len(history),
    }


@require_POST
@project_page
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
