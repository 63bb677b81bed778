"""An upload, from the wire to a bundle on disk, counted while it comes and never whole in memory; then to its row."""

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, BinaryIO

from django.conf import settings
from django.core.exceptions import TooManyFilesSent
from django.core.files.uploadedfile import UploadedFile
from django.core.files.uploadhandler import FileUploadHandler
from django.http import HttpRequest, QueryDict, UnreadablePostError
from django.http.multipartparser import MultiPartParserError
from django.utils.datastructures import MultiValueDict

from dashboard.access import Key
from dashboard.api.errors import ApiError, from_refusal
from dashboard.api.rates import count_bytes
from dashboard.keeping.quotas import storage_free
from dashboard.trust.admitting import ForkRefused, claimed, kept_apart
from ingest.bundle import BundleWriter
from ingest.junit.problems import over_limit
from ingest.metadata import RunMetadata
from ingest.models import Project, Token, Upload
from ingest.services import Body, IdempotencyConflict, upload_receive, upload_reprocess

_CHUNK = 256 * 1024
_SPOOL = 4 * 1024 * 1024
_OVERHEAD = 1024 * 1024
"""What a multipart form may add to the files in it."""
_METADATA_BYTES = 64 * 1024
_NEVER_A_REPORT = ("application/json", "text/html", "image/", "video/", "audio/", "font/")


class Received:
    """A received body: a bundle, the form's fields and its metadata part."""

    def __init__(self, body: Body, form: QueryDict, metadata: str | None) -> None:
        self.body = body
        self.form = form
        self.metadata = metadata


@contextmanager
def receive(request: HttpRequest) -> Iterator[Received]:
    """Read the request's body, multipart or raw, into an unnamed temporary file."""
    content_type = (request.content_type or "").lower()
    _check_length(request)
    if content_type.startswith(_NEVER_A_REPORT):
        sentence = (
            f"{content_type} is never a test report. Send XML, gzip, zip or tar.gz, raw or as multipart/form-data."
        )
        raise ApiError(415, "unsupported_media_type", sentence)
    with tempfile.SpooledTemporaryFile(max_size=_SPOOL) as spool:
        try:
            read = _receive_form if content_type == "multipart/form-data" else _receive_raw
            received = read(request, spool)
        except UnreadablePostError as error:
            raise _cut_short() from error
        yield received


def idempotency_key(request: HttpRequest) -> str | None:
    """What the sender calls this upload; None where it says nothing."""
    key = request.headers.get("Idempotency-Key", "").strip() or None
    if key is not None and (len(key) > 255 or not key.isprintable()):
        raise ApiError(422, "invalid", "Idempotency-Key has at most 255 printable characters.")
    return key


def store(body: Body, metadata: RunMetadata, *, project: Project, token: Key, key: str | None) -> tuple[Upload, bool]:
    """The upload's row, and whether it is new. One that failed and is sent again is tried again."""
    count_bytes(token, project, body.size)
    new = False
    try:
        metadata, untrusted = _placed(metadata, project, token)
        told = {"token": token if isinstance(token, Token) else None, "untrusted": untrusted}
        if untrusted and key is not None:
            key = f"fork {key}"[:255]  # what a fork calls its upload never stands in the way of ours
        upload, new = upload_receive(project=project, body=body, metadata=metadata, idempotency_key=key, **told)
    except IdempotencyConflict as error:
        sentence = "This Idempotency-Key was used before with another body, or for another run."
        raise ApiError(409, "idempotency_conflict", sentence) from error
    finally:
        if not new:
            storage_free(project.pk, body.size)
    if upload.state == Upload.State.FAILED and upload_reprocess(upload=upload):
        upload.refresh_from_db()
    return upload, new


def _placed(metadata: RunMetadata, project: Project, token: Key) -> tuple[RunMetadata, bool]:
    """What the token itself tells of the run, and whether its results are kept apart."""
    known = claimed(metadata, token)
    try:
        return known, kept_apart(project, known)
    except ForkRefused as refusal:
        raise ApiError(403 if refusal.code == "forks_off" else 422, refusal.code, refusal.sentence) from refusal


def _check_length(request: HttpRequest) -> None:
    written = request.META.get("CONTENT_LENGTH") or "0"
    if not (written.isascii() and written.isdecimal() and len(written) < 20):
        raise ApiError(400, "bad_request", "Content-Length is not a number.")
    if int(written) > settings.LIMITS.bytes_in + _OVERHEAD:
        raise _too_large()


def _check_whole(request: HttpRequest, size: int) -> None:
    """A lost connection looks like the end of the body: only Content-Length tells half a report from a whole one."""
    if not _is_chunked(request) and size != int(request.META.get("CONTENT_LENGTH") or "0"):
        raise _cut_short()


def _cut_short() -> ApiError:
    return ApiError(400, "cut_short", "The connection ended before the body did.")


def _too_large() -> ApiError:
    return from_refusal(over_limit("bytes_in", settings.LIMITS.bytes_in, "The upload is too large"))


def _receive_form(request: HttpRequest, spool: BinaryIO) -> Received:
    if _is_chunked(request):
        raise ApiError(411, "length_required", "A multipart body needs a Content-Length.")
    form, files = _form(request)
    parts = [(field, file) for field in files for file in files.getlist(field)]
    metadata = next((_metadata_text(file) for field, file in parts if field == "metadata"), form.get("metadata"))
    reports = [file for field, file in parts if field != "metadata"]
    if not reports:
        raise ApiError(422, "empty", "The form has no file: add -F file=@report.xml.")
    writer = BundleWriter(spool.write)
    size = sum(writer.add(file.name or "report.xml", file.chunks(_CHUNK)) for file in reports)
    if size > settings.LIMITS.bytes_in:
        raise _too_large()
    return Received(Body(spool, writer.digest(), size, len(reports)), form, metadata)


def _form(request: HttpRequest) -> tuple[QueryDict, MultiValueDict[str, UploadedFile]]:
    """The form's fields and files, where all of it has come."""
    counted = request._stream = _CountedStream(request._stream)
    request.upload_handlers.insert(0, _WholeFiles(request))
    try:
        form, files = request.POST, request.FILES
    except TooManyFilesSent as error:
        raise from_refusal(over_limit("files", settings.LIMITS.files, "The upload has too many files")) from error
    except MultiPartParserError as error:
        raise ApiError(400, "bad_multipart", f"The multipart body cannot be read: {error}.") from error
    _check_whole(request, counted.size)
    return form, files


class _CountedStream:
    """The body below Django's reader of forms, which takes the end of the connection for the end of the form."""

    def __init__(self, stream: Any) -> None:
        self._stream = stream
        self.size = 0

    def read(self, *size: int) -> bytes:
        return self._count(self._stream.read(*size))

    def readline(self, *size: int) -> bytes:
        return self._count(self._stream.readline(*size))

    def _count(self, chunk: bytes) -> bytes:
        self.size += len(chunk)
        return chunk


class _WholeFiles(FileUploadHandler):
    """Refuses a form that ends within a file: Django would leave that file out and say nothing."""

    def receive_data_chunk(self, raw_data: bytes, start: int) -> bytes:
        return raw_data

    def file_complete(self, file_size: int) -> None:
        return None

    def upload_interrupted(self) -> None:
        raise _cut_short()


def _metadata_text(file: UploadedFile) -> str:
    if (file.size or 0) > _METADATA_BYTES:
        raise ApiError(413, "limit_metadata", f"The metadata part is larger than {_METADATA_BYTES:,} bytes.")
    return file.read().decode("utf-8", "replace")


def _receive_raw(request: HttpRequest, spool: BinaryIO) -> Received:
    writer = BundleWriter(spool.write)
    size = writer.add("report.xml", _counted(_raw_chunks(request)))
    _check_whole(request, size)
    if not size:
        raise ApiError(422, "empty", "The body is empty: send the report with --data-binary @report.xml.")
    return Received(Body(spool, writer.digest(), size, 1), QueryDict(), None)


def _is_chunked(request: HttpRequest) -> bool:
    return "chunked" in request.META.get("HTTP_TRANSFER_ENCODING", "").lower()


def _raw_chunks(request: HttpRequest) -> Iterator[bytes]:
    # Django gives a body without Content-Length as empty; the server below it knows where a chunked one ends.
    stream: Any = _ServerStream(request.META["wsgi.input"]) if _is_chunked(request) else request
    while chunk := stream.read(_CHUNK):
        yield chunk


class _ServerStream:
    """The server's own stream. What it raises over a bad or cut chunk is its own too: there is no common class."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream

    def read(self, size: int) -> bytes:
        try:
            return self._stream.read(size)
        except Exception as error:
            raise _cut_short() from error


def _counted(chunks: Iterator[bytes]) -> Iterator[bytes]:
    size = 0
    for chunk in chunks:
        size += len(chunk)
        if size > settings.LIMITS.bytes_in:
            raise _too_large()
        yield chunk
