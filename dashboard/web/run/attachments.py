"""Attachments of a run: downloads, and pictures that a page shows."""

from django.http import Http404, HttpRequest, StreamingHttpResponse

from dashboard.attachment_answer import attachment_answer
from dashboard.web.decorators import project_page
from ingest.attachments.models import Attachment
from ingest.attachments.selectors import attachments_shown, is_picture
from ingest.models import Project


def _attachment(project: Project, attachment_id: int) -> Attachment:
    found = attachments_shown(project).filter(pk=attachment_id).first()
    if found is None:
        raise Http404
    return found


@project_page
def attachment(request: HttpRequest, project: Project, attachment_id: int) -> StreamingHttpResponse:
    return attachment_answer(_attachment(project, attachment_id))


@project_page
def picture(request: HttpRequest, project: Project, attachment_id: int) -> StreamingHttpResponse:
    found = _attachment(project, attachment_id)
    if not is_picture(found):
        raise Http404
    return attachment_answer(found, shown=True)
