"""How much one project may have: bytes of uploads and of attachments that are kept, and test cases in a day.

All are buckets, so an upload asks for them without counting anything. What is kept does not empty with time: a bucket
that loses a byte in a second stands for it, and it is counted anew whenever what is too old has gone, daily.

Buckets are gone after a crash of the database, quotas are not: a mark among them says that a project was counted, and
where it is missing all are counted anew from what is stored."""

import time
from datetime import timedelta

from django.conf import settings
from django.db.models import Exists, OuterRef, Sum
from django.utils import timezone

from dashboard.people.throttling import Ask, Rate, fill, give_back, take
from ingest.models import Attachment, Report, Upload, UploadChunk

_DAY = 86_400
_STORED, _ATTACHED, _CASES, _COUNTED = "stored", "attached", "cases", "counted"
_MARK = Rate(1, 10 * 365 * _DAY)
"""A bucket that stays full."""


def counted_ask(project_id: int) -> Ask:
    """Full where the project's quotas are known; empty where they must be counted first."""
    return Ask(_COUNTED, project_id, _MARK, look=True)


def quotas_recount(project_id: int) -> None:
    storage_recount(project_id)
    attachments_recount(project_id)
    cases_recount(project_id)
    fill(_COUNTED, project_id, _MARK, 1)


def storage_ask(project_id: int, size: int) -> Ask | None:
    """A place for so many bytes; None where no limit is set."""
    return Ask(_STORED, project_id, _storage(), size) if settings.PROJECT_BYTES else None


def storage_free(project_id: int, size: int) -> None:
    """Bytes for which a place was taken are not kept after all."""
    if settings.PROJECT_BYTES:
        give_back(_STORED, project_id, _storage(), size)


def storage_recount(project_id: int) -> int:
    """Count the bytes that are kept, and go on from there."""
    kept = Upload.objects.filter(Exists(UploadChunk.objects.filter(upload=OuterRef("pk"))), project_id=project_id)
    size = kept.aggregate(size=Sum("size"))["size"] or 0
    if settings.PROJECT_BYTES:
        fill(_STORED, project_id, _storage(), size)
    return size


def attachments_ask(project_id: int, size: int) -> Ask | None:
    """A place for so many bytes of attachments, which never takes that of reports; None where no limit is set."""
    return Ask(_ATTACHED, project_id, _attached(), size) if settings.PROJECT_ATTACHMENT_BYTES else None


def attachments_free(project_id: int, size: int) -> None:
    """Bytes for which a place was taken are not kept after all."""
    if settings.PROJECT_ATTACHMENT_BYTES:
        give_back(_ATTACHED, project_id, _attached(), size)


def attachments_recount(project_id: int) -> int:
    """Count the attachments that are kept, and go on from there."""
    size = Attachment.objects.filter(project_id=project_id).aggregate(size=Sum("size"))["size"] or 0
    if settings.PROJECT_ATTACHMENT_BYTES:
        fill(_ATTACHED, project_id, _attached(), size)
    return size


def cases_look(project_id: int) -> Ask | None:
    """Whether today's cases are used up; None where no limit is set."""
    return Ask(_CASES, project_id, _cases(), look=True) if settings.PROJECT_CASES_PER_DAY else None


def cases_count(*, upload: Upload) -> None:
    """Count the cases of an upload that was processed: they are known only now, so one upload may overdraw."""
    if settings.PROJECT_CASES_PER_DAY:
        tests = Report.all_objects.filter(upload=upload).aggregate(tests=Sum("tests"))["tests"] or 0
        take(_CASES, upload.project_id, _cases(), tests, owing=True)


def cases_recount(project_id: int) -> None:
    """Fill the bucket of cases as the uploads of a day did, one after the other."""
    if not settings.PROJECT_CASES_PER_DAY:
        return
    since, rate, empty_at = timezone.now() - timedelta(seconds=_DAY), _cases(), 0.0
    done = Report.all_objects.filter(project_id=project_id, upload__finished_at__gt=since).order_by(
        "upload__finished_at"
    )
    for moment, tests in done.values_list("upload__finished_at", "tests"):
        empty_at = max(empty_at, moment.timestamp()) + tests * rate.period / rate.amount
    left = max(empty_at - time.time(), 0.0)
    fill(_CASES, project_id, rate, left * rate.amount / rate.period)


def _storage() -> Rate:
    return Rate(settings.PROJECT_BYTES, settings.PROJECT_BYTES)


def _attached() -> Rate:
    return Rate(settings.PROJECT_ATTACHMENT_BYTES, settings.PROJECT_ATTACHMENT_BYTES)


def _cases() -> Rate:
    return Rate(settings.PROJECT_CASES_PER_DAY, _DAY)
