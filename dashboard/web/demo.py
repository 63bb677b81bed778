"""The demo: load it, watch it load, delete it."""

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_POST

from dashboard.demo.decisions import demo_settled
from dashboard.demo.services import demo_create, demo_delete, demo_progress
from dashboard.tasks import wake_demo
from dashboard.web.decorators import project_deed, project_part
from ingest.models import Project


@require_POST
@login_required
def load(request: HttpRequest) -> HttpResponse:
    """Make the demo and load it in the background; a load that was cut short goes on."""
    project = demo_create(by=request.user)
    wake_demo(project.pk)
    return redirect("project", slug=project.slug)


@project_part
def progress(request: HttpRequest, project: Project) -> HttpResponse:
    """How far the demo is loaded: what its pages ask for until it is done."""
    if not project.demo:
        raise Http404
    loading = demo_progress(project, settled=demo_settled(project))
    if loading is None and "was" in request.GET:
        return HttpResponse(status=204, headers={"HX-Refresh": "true"})  # the page around it has something to show now
    return render(request, "partials/demo.html", {"project": project, "loading": loading})


@project_deed("delete")
def delete(request: HttpRequest, project: Project) -> HttpResponse:
    if not project.demo:
        raise Http404
    demo_delete(project=project)
    messages.success(request, "The demo is deleted, with all of its data.")
    return redirect("home")
