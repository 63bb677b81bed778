"""A project's uploads: did CI's file arrive?"""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from dashboard.web.decorators import project_page
from dashboard.web.paging import keyset_page
from dashboard.web.query import choice
from ingest.models import Project, Upload
from ingest.selectors import uploads_of


@project_page
def upload_list(request: HttpRequest, project: Project) -> HttpResponse:
    uploads = uploads_of(project.pk).defer("files", "metadata")
    state = choice(request.GET, "state", Upload.State.values)
    page = keyset_page(uploads.filter(state=state) if state else uploads, request.GET)
    context = {"project": project, "page": page, "state": state, "states": Upload.State.values}
    return render(request, "project/uploads.html", context)
