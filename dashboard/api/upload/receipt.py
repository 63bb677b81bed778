"""An upload, from the wire to a bundle on disk, counted while it comes and never whole in memory; then to its row."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, BinaryIO, cast

from django.conf import settings
from django.http import HttpRequest, QueryDict, UnreadablePostError

from dashboard.access import Key
from dashboard.api.errors import ApiError
from dashboard.api.throttling import count_bytes
from dashboard.api.upload.forms import Form, counted, too_large
from dashboard.api.upload.metadata import check_single
from dashboard.api.upload.multipart import BadMultipart, read_form
from dashboard.api.upload.spool import Spool
from dashboard.ci_trust.admission import ForkRefused, claimed, kept_apart
from dashboard.retention.quotas import storage_free
from ingest.bundle import BundleWriter
from ingest.metadata import RunMetadata
from ingest.models import Experiment, Project, Token, Upload
from ingest.services import Body, IdempotencyConflict, upload_receive, upload_reprocess

_CHUNK = 256 * 1024
_OVERHEAD = 4 * 1024 * 1024
"""What a multipart form may add to the files in it."""
_NEVER_A_REPORT = ("image/", "video/", "audio/", "font/", "multipart/")
_FORM = "multipart/form-data"
_GZIP = b"\x1f\x8b"


class ReceivedBody:
    """A received body: a bundle, the form's fields and its metadata part."""

    def __init__(self, body: Body, form: QueryDict, metadata: str | None) -> None:
        self.body = body
        self.form = form
        self.metadata = metadata


@contextmanager
def receive(request: HttpRequest) -> Iterator[ReceivedBody]:
    """Read the request's body, multipart or raw, into an unnamed temporary file."""
    check_single(request.GET)
    check_length(request, settings.LIMITS.bytes_in)
    content_type = (request.content_type or "").lower()
    if content_type != _FORM and content_type.startswith(_NEVER_A_REPORT):
        sentence = f"{content_type} is never a test report. Send the report itself, an archive, or {_FORM}."
        raise ApiError(415, "unsupported_media_type", sentence)
    _check_encoding(request, raw=content_type != _FORM)
    with Spool() as spool:
        try:
            read = _receive_form if content_type == _FORM else _receive_raw
            received = read(request, spool)
        except UnreadablePostError as error:
            raise cut_short() from error
        yield received


def idempotency_key(request: HttpRequest) -> str | None:
    """What the sender calls this upload; None where it says nothing."""
    key = request.headers.get("Idempotency-Key", "").strip() or None
    if key is not None and (len(key) > 255 or not key.isprintable()):
        raise ApiError(422, "invalid", "Idempotency-Key has at most 255 printable characters.")
    return key


def store(body: Body, metadata: RunMetadata, *, project: Project, token: Key, key: str | None) -> tuple[Upload, bool]:
    """Store the upload, or retry one that failed before; return its row and whether it is new."""
    count_bytes(token, project, body.size)
    new = False
    try:
        metadata, untrusted, experiment = _placed(metadata, project, token)
        origin = {"token": token if isinstance(token, Token) else None, "untrusted": untrusted}
        origin["experiment"] = experiment
        if untrusted and key is not None:
            key = f"fork {key}"[:255]  # what a fork calls its upload never stands in the way of ours
        upload, new = upload_receive(project=project, body=body, metadata=metadata, idempotency_key=key, **origin)
    except IdempotencyConflict as error:
        sentence = "This Idempotency-Key was used before with another body, or for another run."
        raise ApiError(409, "idempotency_conflict", sentence) from error
    finally:
        if not new:
            storage_free(project.pk, body.size)
    if upload.state == Upload.State.FAILED and upload_reprocess(upload=upload):
        upload.refresh_from_db()
    return upload, new


def _placed(metadata: RunMetadata, project: Project, token: Key) -> tuple[RunMetadata, bool, Experiment | None]:
    """What the token itself tells of the run, whether its results are kept apart, and the experiment it belongs to."""
    known = claimed(metadata, token)
    if known.experiment:
        return known.of_experiment(), False, _experiment(project, known)
    try:
        return known, kept_apart(project, known), None
    except ForkRefused as refusal:
        raise ApiError(403 if refusal.code == "forks_off" else 422, refusal.code, refusal.sentence) from refusal


def _experiment(project: Project, metadata: RunMetadata) -> Experiment:
    """The announced experiment; a fork's code has none, since nobody admits its orders."""
    if metadata.fork:
        raise ApiError(403, "fork_experiment", "Experiments of forks are not taken: run it in the repository itself.")
    experiment = Experiment.objects.filter(project=project, key=metadata.experiment).first()
    if experiment is None:
        sentence = f"There is no experiment {metadata.experiment!r}: announce it first, by POST experiments."
        raise ApiError(422, "unknown_experiment", sentence)
    return experiment


# -- what is wrong with a body -----------------------------------------------------------------------------------


def check_length(request: HttpRequest, most: int) -> None:
    """Refuse a body by what it says of its length."""
    written = request.META.get("CONTENT_LENGTH") or "0"
    if not (written.isascii() and written.isdecimal() and len(written) < 20):
        raise ApiError(400, "bad_request", "Content-Length is not a number.")
    if int(written) > most + _OVERHEAD:
        if most != settings.LIMITS.bytes_in:
            raise ApiError(413, "too_large", f"The body has more than {most:,} bytes.")
        raise too_large()


def _check_encoding(request: HttpRequest, *, raw: bool) -> None:
    """A raw body may be gzip, which is known by its content. What we cannot undo is refused, not stored unread."""
    encoding = _encoding(request)
    if encoding != "identity" and not (raw and encoding == "gzip"):
        sentence = (
            f"The Content-Encoding {encoding[:40]!r} is not read here. Send the form or the report as it is, or gzip."
        )
        raise ApiError(415, "unsupported_encoding", sentence)


def _encoding(request: HttpRequest) -> str:
    written = request.headers.get("Content-Encoding", "").strip().lower()
    return {"": "identity", "x-gzip": "gzip"}.get(written, written)


def _check_whole(request: HttpRequest, size: int) -> None:
    """A lost connection looks like the end of the body: only Content-Length tells half a report from a whole one."""
    if not is_chunked(request) and size != int(request.META.get("CONTENT_LENGTH") or "0"):
        raise cut_short()


def cut_short() -> ApiError:
    return ApiError(400, "cut_short", "The connection ended before the body did.")


# -- forms -------------------------------------------------------------------------------------------------------


def _receive_form(request: HttpRequest, spool: Spool) -> ReceivedBody:
    if is_chunked(request):
        raise ApiError(411, "length_required", "A multipart body needs a Content-Length.")
    writer = BundleWriter(spool.write)
    form, stream = Form(writer), _CountedChunks(body_chunks(request))
    try:
        for part in read_form(request.META.get("CONTENT_TYPE", ""), stream):
            form.add(part)
    except EOFError as error:
        raise cut_short() from error
    except BadMultipart as error:
        raise ApiError(error.status, "bad_multipart", f"The multipart body cannot be read. {error}.") from error
    _check_whole(request, stream.size)
    if not form.files:
        raise ApiError(422, "empty", "The form has no file: add -F file=@report.xml.")
    return ReceivedBody(Body(cast(BinaryIO, spool), writer.digest(), form.size, form.files), form.fields, form.metadata)


class _CountedChunks:
    """Chunks, and how many bytes they were."""

    def __init__(self, chunks: Iterator[bytes]) -> None:
        self._chunks = chunks
        self.size = 0

    def __iter__(self) -> Iterator[bytes]:
        return self

    def __next__(self) -> bytes:
        chunk = next(self._chunks)
        self.size += len(chunk)
        return chunk


# -- raw bodies --------------------------------------------------------------------------------------------------


def _receive_raw(request: HttpRequest, spool: Spool) -> ReceivedBody:
    writer = BundleWriter(spool.write)
    chunks = _checked_gzip(body_chunks(request)) if _encoding(request) == "gzip" else body_chunks(request)
    size = writer.add("report.xml", counted(chunks))
    _check_whole(request, size)
    if not size:
        raise ApiError(422, "empty", "The body is empty: send the report with --data-binary @report.xml.")
    return ReceivedBody(Body(cast(BinaryIO, spool), writer.digest(), size, 1), QueryDict(), None)


def _checked_gzip(chunks: Iterator[bytes]) -> Iterator[bytes]:
    """The chunks, where they are what the Content-Encoding says."""
    first = next(chunks, b"")
    if not first.startswith(_GZIP):
        raise ApiError(400, "bad_encoding", "The Content-Encoding is gzip, and the body is not.")
    yield first
    yield from chunks


def is_chunked(request: HttpRequest) -> bool:
    return "chunked" in request.META.get("HTTP_TRANSFER_ENCODING", "").lower()


def body_chunks(request: HttpRequest) -> Iterator[bytes]:
    # Django gives a body without Content-Length as empty; the server below it knows where a chunked one ends.
    stream: Any = _ServerStream(request.META["wsgi.input"]) if is_chunked(request) else request
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
            raise cut_short() from error
