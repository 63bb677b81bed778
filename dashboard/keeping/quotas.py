"""How much one project may have: bytes of uploads that are kept, and test cases in a day.

Both are buckets, so an upload asks for them without counting anything. What is kept does not empty with time: a bucket
that loses a byte in a second stands for it, and it is counted anew whenever what is too old has gone, daily."""

from django.conf import settings
from django.db.models import Exists, OuterRef, Sum

from dashboard.people.rates import Ask, Rate, fill, give_back, take
from ingest.models import Report, Upload, UploadChunk

_DAY = 86_400
_STORED, _CASES = "stored", "cases"


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


def cases_look(project_id: int) -> Ask | None:
    """Whether today's cases are used up; None where no limit is set."""
    return Ask(_CASES, project_id, _cases(), look=True) if settings.PROJECT_CASES_PER_DAY else None


def cases_count(*, upload: Upload) -> None:
    """Count the cases of an upload that was processed: they are known only now, so one upload may overdraw."""
    if settings.PROJECT_CASES_PER_DAY:
        tests = Report.objects.filter(upload=upload).aggregate(tests=Sum("tests"))["tests"] or 0
        take(_CASES, upload.project_id, _cases(), tests, owing=True)


def _storage() -> Rate:
    return Rate(settings.PROJECT_BYTES, settings.PROJECT_BYTES)


def _cases() -> Rate:
    return Rate(settings.PROJECT_CASES_PER_DAY, _DAY)
