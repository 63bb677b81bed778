"""One upload: what became of it, file by file."""

from typing import Any

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render

from dashboard.tasks import wake_worker
from dashboard.web.doors import project_deed, project_page, project_part
from dashboard.web.paging import numbered_page, offset_asked
from ingest.junit.upload import FileOutcome
from ingest.models import Project, Upload
from ingest.selectors import uploads_of
from ingest.services import upload_reprocess

FILES_SIZE = 100
_EMPTY_FILE = FileOutcome.defaults()


def _upload(project: Project, upload_id: int) -> Upload:
    upload: Upload | None = uploads_of(project.pk).select_related("token").filter(pk=upload_id).first()
    if upload is None:
        raise Http404
    return upload


def _context(request: HttpRequest, project: Project, upload: Upload) -> dict[str, Any]:
    """What page and update show alike."""
    files = sorted(upload.files, key=_trouble)
    start = offset_asked(request.GET, FILES_SIZE)
    return {
        "project": project,
        "upload": upload,
        "waiting": upload.state in Upload.WAITING,
        "files": [_EMPTY_FILE | file for file in files[start : start + FILES_SIZE]],
        "page": numbered_page(request.GET, total=len(files), size=FILES_SIZE),
        "unread": sum("error" in file for file in files),
    }


def _trouble(file: dict[str, Any]) -> int:
    """Files that could not be read first, then those with warnings."""
    return 0 if "error" in file else 1 if "warnings" in file or "partial" in file else 2


@project_page
def upload_detail(request: HttpRequest, project: Project, upload_id: int) -> HttpResponse:
    upload = _upload(project, upload_id)
    context = {**_context(request, project, upload), "metadata": _said(upload.metadata)}
    return render(request, "upload.html", context)


@project_part
def upload_part(request: HttpRequest, project: Project, upload_id: int) -> HttpResponse:
    """The part of the page that changes, for as long as the upload waits."""
    return render(request, "partials/upload_outcome.html", _context(request, project, _upload(project, upload_id)))


def _said(metadata: dict[str, Any]) -> list[tuple[str, str]]:
    """Metadata as CI said it, as words."""
    environment = metadata.get("environment", {})
    pairs = ", ".join(f"{name}={value}" for name, value in environment.items())
    return [(name, pairs if name == "environment" else str(value)) for name, value in metadata.items()]


@project_deed("reprocess")
def reprocess(request: HttpRequest, project: Project, upload_id: int) -> HttpResponse:
    upload = _upload(project, upload_id)
    if upload_reprocess(upload=upload):
        wake_worker(upload.pk)
        messages.success(request, "It is in the queue again.")
    else:
        messages.warning(request, "It is being processed already, or its bytes are no longer kept.")
    return redirect("upload", slug=project.slug, upload_id=upload.pk)
