"""Home: which project needs me?"""

from dataclasses import dataclass

from django.contrib.auth.decorators import login_required
from django.db.models import Count, OuterRef, QuerySet, Subquery
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from dashboard import access
from dashboard.web.projects import ProjectForm
from ingest.models import Project, Run, Upload


@dataclass(frozen=True, slots=True)
class ProjectRow:
    project: Project
    runs: int
    last_upload: Upload | None


@login_required
def home(request: HttpRequest) -> HttpResponse:
    rows = _rows(access.user_projects(request.user))
    offer_demo = not any(row.last_upload for row in rows)
    return render(request, "home.html", {"rows": rows, "form": ProjectForm(), "offer_demo": offer_demo})


def _rows(projects: "QuerySet[Project]") -> list[ProjectRow]:
    """Projects with their newest upload and their runs counted: three queries, however many projects."""
    newest = Upload.objects.filter(project=OuterRef("pk")).order_by("-id").values("pk")[:1]
    found = list(projects.annotate(last_upload_id=Subquery(newest)))
    uploads = Upload.objects.defer("files").in_bulk([one.last_upload_id for one in found if one.last_upload_id])
    counted = Run.objects.filter(project__in=found).values("project_id").annotate(runs=Count("pk"))
    runs = dict(counted.values_list("project_id", "runs"))
    return [ProjectRow(one, runs.get(one.pk, 0), uploads.get(one.last_upload_id)) for one in found]
