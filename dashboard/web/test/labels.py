"""Labels and notes on a test, and views of the list of tests: forms of the pages."""

from urllib.parse import urlencode

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse

from dashboard.quarantine.labels.models import SavedView, TestNote
from dashboard.quarantine.labels.services import (
    LabelRefused,
    labels_set,
    note_add,
    note_delete,
    view_delete,
    view_save,
)
from dashboard.web.decorators import project_deed
from dashboard.web.test.test import test_of
from ingest.models import Project


@project_deed("quarantine")
def test_labels(request: HttpRequest, project: Project, number: int) -> HttpResponse:
    """Set the labels of a test, written with commas between them."""
    test = test_of(project, number)
    now = test.alias_of or test
    try:
        labels_set(test=now, labels=request.POST.get("labels", "").split(","))
    except LabelRefused as refused:
        messages.error(request, str(refused))
    return redirect(reverse("test", args=(project.slug, now.number)) + "#about")


@project_deed("quarantine")
def test_note(request: HttpRequest, project: Project, number: int) -> HttpResponse:
    test = test_of(project, number)
    now = test.alias_of or test
    try:
        note_add(test=now, text=request.POST.get("text", ""), by=request.user.get_username())
    except LabelRefused as refused:
        messages.error(request, str(refused))
    return redirect(reverse("test", args=(project.slug, now.number)) + "#about")


@project_deed("quarantine")
def test_note_delete(request: HttpRequest, project: Project, note_id: int) -> HttpResponse:
    note = TestNote.objects.filter(test__project=project, pk=note_id).select_related("test__alias_of").first()
    if note is None:
        raise Http404
    number = (note.test.alias_of or note.test).number
    note_delete(note=note)
    return redirect(reverse("test", args=(project.slug, number)) + "#about")


@project_deed("quarantine")
def view_new(request: HttpRequest, project: Project) -> HttpResponse:
    """Keep what the list is narrowed down to; then back to it."""
    query = request.POST.get("query", "").replace("\0", "")
    try:
        view = view_save(
            project=project, name=request.POST.get("name", ""), query=query, by=request.user.get_username()
        )
        messages.success(request, f"The view {view.name} is kept for everybody who sees this project.")
    except LabelRefused as refused:
        messages.error(request, str(refused))
    return redirect(reverse("tests", args=(project.slug,)) + "?" + urlencode({"q": query[:500]}))


@project_deed("quarantine")
def view_gone(request: HttpRequest, project: Project, view_id: int) -> HttpResponse:
    view = SavedView.objects.filter(project=project, pk=view_id).first()
    if view is None:
        raise Http404
    view_delete(view=view)
    return redirect("tests", slug=project.slug)
