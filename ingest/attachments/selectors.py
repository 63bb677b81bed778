"""Attachments as pages and API ask for them."""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from django.db.models import QuerySet
from django.db.models.functions import Coalesce

from ingest.attachments.kinds import HEAD, picture_size
from ingest.attachments.models import Attachment, AttachmentChunk, AttachmentUse
from ingest.models import Project, Upload

MOST_SHOWN = 20
"""Of one test, or of one run without a test."""


def attachments_shown(project: Project) -> "QuerySet[Attachment]":
    """Those of the project's runs of CI: who sees the runs sees them."""
    return Attachment.objects.filter(project=project, upload__run__isnull=False, upload__experiment=None)


def attachments_of_upload(upload: Upload) -> "QuerySet[Attachment]":
    return Attachment.objects.filter(upload=upload).order_by("pk")


def run_attachments(
    project: Project, run_ids: Iterable[int]
) -> tuple[Mapping[int, list[Attachment]], list[Attachment]]:
    """Attachments of some runs by the id that a test has today, and those that no test mentions.

    Two queries; one where there are none."""
    found = attachments_shown(project).filter(upload__run__in=list(run_ids))
    every = {attachment.pk: attachment for attachment in found.order_by("pk")}
    by_test: dict[int, list[Attachment]] = {}
    alone = dict(every)
    if every:
        uses = AttachmentUse.objects.filter(attachment__in=every)
        for attachment, test in uses.values_list("attachment", Coalesce("test__alias_of", "test")):
            by_test.setdefault(test, []).append(every[attachment])
            alone.pop(attachment, None)
    return {test: _pictures_first(files) for test, files in by_test.items()}, _pictures_first(alone.values())


def _pictures_first(files: Iterable[Attachment]) -> list[Attachment]:
    return sorted(files, key=lambda attachment: (not attachment.is_shown, attachment.pk))


def test_attachments(project: Project, test_ids: Sequence[int], most: int = MOST_SHOWN) -> list[Attachment]:
    """The newest attachments of a test, under any of its names, of runs of CI that are still there."""
    return list(attachments_shown(project).filter(attachmentuse__test__in=test_ids).order_by("-pk").distinct()[:most])


def attachment_bytes(attachment: Attachment) -> Iterator[bytes]:
    """Its content, a piece in memory at a time."""
    position = 0
    pieces = AttachmentChunk.objects.filter(attachment=attachment)
    while (piece := pieces.filter(position=position).values_list("content", flat=True).first()) is not None:
        yield bytes(piece)
        position += 1


def is_picture(attachment: Attachment) -> bool:
    """Whether a page may show it: by what was noted when it came, and by its bytes as they are now."""
    head = next(attachment_bytes(attachment), b"") if attachment.is_shown else b""
    return picture_size(head[:HEAD]) is not None
