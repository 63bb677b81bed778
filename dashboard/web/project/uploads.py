"""A project's uploads: did CI's file arrive, and what became of it, file by file?"""

from typing import Any

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render

from dashboard.retention.services import ages_of, kept_until
from dashboard.tasks import wake_worker
from dashboard.web.decorators import project_deed, project_page, project_part
from dashboard.web.paging import keyset_page, numbered_page, offset_asked
from dashboard.web.project.leads import uploads_lead
from dashboard.web.query import choice
from ingest.junit.upload import NOT_UNDERSTOOD, account_of, ledger_of, stored_file
from ingest.models import Project, Upload
from ingest.selectors import every_upload_of, uploads_of
from ingest.services import upload_reprocess

FILES_SIZE = 100


@project_page
def upload_list(request: HttpRequest, project: Project) -> HttpResponse:
    uploads = uploads_of(project.pk).defer("files", "metadata")
    state = choice(request.GET, "state", Upload.State.values)
    page = keyset_page(uploads.filter(state=state) if state else uploads, request.GET)
    newest = page.rows[0] if page.rows and not request.GET else uploads.first()
    context = {
        "project": project,
        "page": page,
        "state": state,
        "states": Upload.State.values,
        "lead": uploads_lead(project.slug, newest, state),
    }
    return render(request, "project/uploads.html", context)


# -- one upload --------------------------------------------------------------------------------------------------


def _upload(project: Project, upload_id: int) -> Upload:
    upload: Upload | None = every_upload_of(project.pk).select_related("token").filter(pk=upload_id).first()
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
        "files": [stored_file(file) for file in files[start : start + FILES_SIZE]],
        "page": numbered_page(request.GET, total=len(files), size=FILES_SIZE),
        "ledger": ledger_of(files),
        "unsent": upload.metadata.get("unsent", []),
        "kept_until": kept_until(upload, ages_of(project)),
    }


def _trouble(file: dict[str, Any]) -> int:
    """What was not understood first, then files with warnings, and what is known not to be results last."""
    if account_of(file) == NOT_UNDERSTOOD or "not_understood" in file or "partial" in file:
        return 0
    return 3 if "error" in file else 1 if "warnings" in file else 2


@project_page
def upload_detail(request: HttpRequest, project: Project, upload_id: int) -> HttpResponse:
    upload = _upload(project, upload_id)
    context = {**_context(request, project, upload), "metadata": _metadata_words(upload.metadata)}
    return render(request, "project/upload.html", context)


@project_part
def upload_part(request: HttpRequest, project: Project, upload_id: int) -> HttpResponse:
    """The part of the page that changes, for as long as the upload waits."""
    return render(request, "project/_upload_outcome.html", _context(request, project, _upload(project, upload_id)))


def _metadata_words(metadata: dict[str, Any]) -> list[tuple[str, str]]:
    """The metadata that CI sent, as names and texts."""
    return [(name, _words(value)) for name, value in metadata.items() if name != "unsent"]  # which the ledger shows


def _words(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{name}={inner}" for name, inner in value.items())
    return " ".join(map(str, value)) if isinstance(value, list) else str(value)


@project_deed("reprocess")
def reprocess(request: HttpRequest, project: Project, upload_id: int) -> HttpResponse:
    upload = _upload(project, upload_id)
    if upload_reprocess(upload=upload):
        wake_worker(upload.pk)
        messages.success(request, "It is in the queue again.")
    else:
        messages.warning(request, "It is being processed already, or its bytes are no longer kept.")
    return redirect("upload", slug=project.slug, upload_id=upload.pk)
