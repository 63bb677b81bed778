"""How an attachment is sent: a download that no browser runs, or a picture that is one by its bytes."""

from urllib.parse import quote

from django.http import StreamingHttpResponse

from ingest.attachments.kinds import Kind, file_name, picture_type
from ingest.attachments.models import Attachment
from ingest.attachments.selectors import attachment_bytes

_POLICY = "sandbox; default-src 'none'; frame-ancestors 'none'"
"""Whatever a browser makes of it, it has no origin, runs nothing and loads nothing."""


def attachment_answer(attachment: Attachment, *, shown: bool = False) -> StreamingHttpResponse:
    """Its bytes; `shown` only where `is_picture` says so."""
    kind = Kind(attachment.kind)
    of_bytes = picture_type(kind) if shown else "application/octet-stream"
    response = StreamingHttpResponse(attachment_bytes(attachment), content_type=of_bytes)
    response.headers["Content-Length"] = str(attachment.size)
    response.headers["Content-Disposition"] = "inline" if shown else _disposition(file_name(attachment.name, kind))
    response.headers["Content-Security-Policy"] = _POLICY
    response.headers["X-Content-Type-Options"] = "nosniff"
    response.headers["Cross-Origin-Resource-Policy"] = "same-origin"
    return response


def _disposition(name: str) -> str:
    """For old and new browsers: in ASCII, and as it is."""
    plain = "".join(letter if letter.isascii() and (letter.isalnum() or letter in "._-") else "-" for letter in name)
    return f"attachment; filename=\"{plain}\"; filename*=UTF-8''{quote(name, safe='')}"
