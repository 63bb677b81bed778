"""Services that write attachments: stored when they come, and placed at the tests that mention them."""

import hashlib
from dataclasses import dataclass
from typing import BinaryIO

from django.conf import settings
from django.db import IntegrityError, transaction
from django.db.models import Q, Sum

from ingest.attachments.kinds import HEAD, Kind, is_text, kind_of, picture_size
from ingest.attachments.models import Attachment, AttachmentChunk, AttachmentUse
from ingest.attachments.names import is_same_file, marks_in
from ingest.junit.attachment_marks import MARK
from ingest.models import Failure, Run, Upload

CHUNK_BYTES = 1024 * 1024
_FAILURES = 5_000
"""Failures of a run that are searched for mentions."""


class AttachmentRefused(Exception):
    """A file that is not taken: code and sentence. The upload and its other files stay."""

    def __init__(self, code: str, sentence: str) -> None:
        self.code, self.sentence = code, sentence
        super().__init__(sentence)


@dataclass(frozen=True, slots=True)
class Room:
    """How many files and bytes an upload still takes."""

    files: int
    bytes: int


def room_of(upload: Upload) -> Room:
    limits = settings.ATTACHMENT_LIMITS
    kept = Attachment.objects.filter(upload=upload)
    size = kept.aggregate(size=Sum("size"))["size"] or 0
    return Room(limits.files - kept.count(), limits.total - size)


def attachment_store(*, upload: Upload, name: str, content: BinaryIO) -> tuple[Attachment, bool]:
    """Store a file; the second value is whether it is new. Raises AttachmentRefused where it is not taken.

    The same name with the same bytes again is the same attachment; with other bytes it is refused."""
    limits = settings.ATTACHMENT_LIMITS
    digest, size, kind, shown = _looked_at(content)
    if not size:
        raise AttachmentRefused("empty", "The file is empty.")
    if kind is None:
        sentence = (
            "Pictures (PNG, JPEG, GIF, WebP), WebM, MP4, zip, gzip, PDF and UTF-8 text are taken; it is none of these."
        )
        raise AttachmentRefused("attachment_type", sentence)
    attachment = Attachment(
        project_id=upload.project_id,
        upload=upload,
        name=name,
        kind=kind,
        size=size,
        digest=digest,
        is_shown=shown is not None and shown[0] * shown[1] <= limits.pixels and size <= limits.preview,
    )
    try:
        with transaction.atomic():
            attachment.save(force_insert=True)
            AttachmentChunk.objects.bulk_create(_chunks(attachment, content), batch_size=4)
    except IntegrityError:
        known = Attachment.objects.filter(upload=upload, name=name).first()
        if known is None:
            raise
        if bytes(known.digest) != digest:
            raise AttachmentRefused("attachment_name", "Another file of this name is attached to the upload.") from None
        return known, False
    return attachment, True


def _looked_at(content: BinaryIO) -> tuple[bytes, int, Kind | None, tuple[int, int] | None]:
    """Digest, size, kind and, of a picture, width and height. Text is text to its end."""
    digest, size, kind, shown = hashlib.sha256(), 0, None, None
    content.seek(0)
    rest = b""
    while piece := content.read(CHUNK_BYTES):
        if not size:
            kind, shown = kind_of(piece[:HEAD]), picture_size(piece[:HEAD])
        digest.update(piece)
        size += len(piece)
        if kind is Kind.TEXT:
            kind = Kind.TEXT if is_text(rest + piece) else None
            rest = _cut_letter(rest + piece)
    return digest.digest(), size, None if rest else kind, shown


def _cut_letter(piece: bytes) -> bytes:
    """The bytes of a letter that the next piece ends."""
    for length in (1, 2, 3):
        try:
            piece[-length:].decode("utf-8")
        except UnicodeDecodeError as error:
            if error.reason == "unexpected end of data" and error.start == 0:
                return piece[-length:]
        else:
            return b""
    return b""


def _chunks(attachment: Attachment, content: BinaryIO) -> "list[AttachmentChunk]":
    content.seek(0)
    pieces = iter(lambda: content.read(CHUNK_BYTES), b"")
    return [
        AttachmentChunk(attachment=attachment, position=position, content=piece)
        for position, piece in enumerate(pieces)
    ]


@transaction.atomic
def attachments_settle(*, upload: Upload) -> None:
    """Place what was just attached to an upload, if it is processed; if it is being processed, that does it.

    The lock waits for a transaction that has set the run: one that has not yet will see the attachments."""
    held = Upload.objects.select_for_update(no_key=True).get(pk=upload.pk)
    if held.run is not None:
        attachments_place(run=held.run)


@transaction.atomic
def attachments_place(*, run: Run) -> None:
    """Note which tests of a run mention its attachments. Call it when a report or an attachment was added."""
    names = dict(Attachment.objects.filter(upload__run=run).values_list("pk", "name"))
    if not names:
        return
    mentioned = Q(system_out__contains=MARK) | Q(system_err__contains=MARK) | Q(text__contains=MARK)
    fields = ("test_id", "test__alias_of_id", "system_out", "system_err", "text")
    uses = set()
    for test, now, *texts in Failure.objects.filter(mentioned, report__run=run).values_list(*fields)[:_FAILURES]:
        for mark in marks_in("\n".join(texts)):
            uses |= {(attachment, now or test) for attachment, name in names.items() if is_same_file(mark, name)}
    AttachmentUse.objects.filter(attachment__in=names).delete()
    rows = [AttachmentUse(attachment_id=attachment, test_id=test) for attachment, test in sorted(uses)]
    AttachmentUse.objects.bulk_create(rows, ignore_conflicts=True)
