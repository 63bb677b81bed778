"""The way of an upload after its 202: claimed by one worker, read, stored in one transaction, finished or set aside.

PostgreSQL is the queue of record; the broker only wakes workers. A claim is a random id written by a conditional
update: whatever happens to the worker, only the holder of the claim can finish the upload."""

import io
import logging
import uuid
from collections.abc import Callable
from datetime import datetime, timedelta
from functools import partial
from typing import Any

import numpy as np
from django.conf import settings
from django.db import InterfaceError, OperationalError, transaction
from django.db.models import F, Q, QuerySet
from django.db.models.functions import Now
from django.utils import timezone

from ingest.bundle import read_parts
from ingest.interning import InternedTests, tests_intern
from ingest.junit.report import ParsedReport
from ingest.junit.upload import UploadReading, read_upload
from ingest.leases import kept_alive
from ingest.metadata import ORDER_EXECUTED, RunMetadata
from ingest.models import Run, Upload, UploadChunk
from ingest.redaction import redact_report
from ingest.renaming import renames_suggest
from ingest.selectors import run_files
from ingest.services import CHUNK_BYTES
from ingest.storing import RunChanged, report_store, run_store
from ingest.turns import Claimed, Turns
from ingest.vectors import Numbers

logger = logging.getLogger(__name__)
State = Upload.State

_SWEPT_AT_ONCE = 500
_GRACE = timedelta(seconds=5)
"""An upload that was received this long ago and is not claimed yet has lost its wake-up call."""
_SKEW = timedelta(hours=24)
_EMPTY = (0, False, "", None, [], {})


class ClaimLost(Exception):
    """Somebody else has the upload now: this work is thrown away."""


_LONGEST_PAUSE = timedelta(minutes=5)
_turns = Turns()
"""As this process goes round the projects."""


def _lease() -> timedelta:
    return timedelta(seconds=settings.UPLOAD_LEASE_SECONDS)


def upload_claim(*, upload_id: int) -> uuid.UUID | None:
    """Take a received upload for processing. Exactly one caller gets a claim."""
    claim = uuid.uuid4()
    won = Upload.objects.filter(pk=upload_id, state=State.RECEIVED).update(
        state=State.PROCESSING, claim=claim, tries=F("tries") + 1, lease_until=Now() + _lease()
    )
    return claim if won else None


def upload_take_over(*, upload: Upload) -> None:
    """Free an upload that an interrupted import left behind. Should its old holder live, its result is thrown away."""
    left = Upload.objects.filter(pk=upload.pk, token=None).exclude(state=State.PROCESSED)
    left.update(state=State.RECEIVED, claim=None, lease_until=None, tries=0)


def upload_process(*, upload_id: int) -> Upload | None:
    """Process an upload from claim to end. None where it was not there to be claimed, or was not brought to an end."""
    claim = upload_claim(upload_id=upload_id)
    return upload_process_claimed(upload_id=upload_id, claim=claim) if claim is not None else None


def upload_claim_in_turn(*, woken_for: int, put_back: Callable[[int], None]) -> Claimed | None:
    """Take the upload whose turn it is. `put_back` gets the one that the worker was woken for, if that has to wait."""
    held = _turns.claim(woken_for=woken_for, lease=_lease())
    if held is None:  # somebody held its row for a moment, or it is done
        claim = upload_claim(upload_id=woken_for)
        return Claimed(woken_for, claim) if claim is not None else None
    if held.upload_id != woken_for and Upload.objects.filter(pk=woken_for, state=State.RECEIVED).exists():
        put_back(woken_for)
    return held


def upload_process_claimed(*, upload_id: int, claim: uuid.UUID) -> Upload | None:
    """Process an upload that is ours. None where it was not brought to an end."""
    upload = Upload.objects.select_related("project").get(pk=upload_id)
    try:
        with kept_alive(f"upload {upload_id}", settings.UPLOAD_LEASE_SECONDS, partial(_renew, upload_id, claim)):
            done = _process(upload, claim)
    except ClaimLost:
        logger.warning("upload %s: the claim was lost; its new holder finishes it", upload_id)
        return None
    except (OperationalError, InterfaceError):
        raise  # the database is away: the claim runs out by itself, and the sweep tries again
    except Exception as error:
        logger.exception("upload %s: processing failed", upload_id)
        _give_back(upload, claim, error)
        return None
    if done is not None:
        run, created = done
        try:
            renames_suggest(run=run, created=created)
        except Exception:
            logger.exception("upload %s: no renames suggested", upload_id)
    return upload


def _renew(upload_id: int, claim: uuid.UUID) -> None:
    Upload.objects.filter(pk=upload_id, claim=claim).update(lease_until=Now() + _lease())


def _process(upload: Upload, claim: uuid.UUID) -> tuple[Run, Numbers] | None:
    """Read and store; again where another upload of the same run was quicker."""
    while True:
        known = run_files(upload.project_id, bytes(upload.run_key), besides=upload.pk)
        try:
            return _read_and_store(upload, claim, known)
        except RunChanged:
            logger.info("upload %s: its run changed meanwhile; it is read again", upload.pk)


def _read_and_store(upload: Upload, claim: uuid.UUID, known: frozenset[bytes]) -> tuple[Run, Numbers] | None:
    """The run, and the tests that it is the first to name; None where it brought nothing."""
    stream = io.BufferedReader(_Chunks(upload.pk), 1024 * 1024)
    reading = read_upload(read_parts(stream), settings.LIMITS, known)
    if not reading.read:
        _finish(upload, claim, reading, state=State.REJECTED, error=_rejection(reading))
        return None
    metadata = RunMetadata.from_json(upload.metadata)
    started_at = _started_at(upload, metadata, reading)
    told = map(redact_report, reading.reports) if upload.project.redact else reading.reports
    parsed = [(one, _tests(upload, one, started_at)) for one in told]
    with transaction.atomic():
        host = reading.report.hostname
        run = run_store(upload=upload, host=host, metadata=metadata, started_at=started_at, known=known)
        for one, tests in parsed if reading.new else ():
            executed = metadata.order == ORDER_EXECUTED
            report_store(
                upload=upload, run=run, parsed=one, tests=tests, started_at=started_at, order_executed=executed
            )
        _finish(upload, claim, reading, state=State.PROCESSED, run=run)
    return (run, np.concatenate([tests.created for _, tests in parsed])) if reading.new else None


def _tests(upload: Upload, parsed: ParsedReport, seen_at: datetime) -> InternedTests:
    return tests_intern(project_id=upload.project_id, keys=parsed.keys, files=parsed.files, seen_at=seen_at)


def _told_start(metadata: RunMetadata, reading: UploadReading) -> datetime | None:
    return metadata.started_at or reading.started_at


def _started_at(upload: Upload, metadata: RunMetadata, reading: UploadReading) -> datetime:
    """When the run started, by CI or by the report. A clock that is a day ahead of ours is not believed.

    An import tells of the past, and its dates are what orders it."""
    told = _told_start(metadata, reading)
    if told is None or told > upload.received_at + _SKEW:
        return upload.received_at
    return told


def _rejection(reading: UploadReading) -> dict[str, Any]:
    first = reading.first_error or {"code": "empty", "sentence": "The upload holds no file."}
    if len(reading.files) <= 1:
        return {"code": first["code"], "sentence": first["sentence"]}
    return {
        "code": "nothing_readable",
        "sentence": f"None of {len(reading.files):,} files could be read: {first['sentence']}",
    }


def _finish(upload: Upload, claim: uuid.UUID, reading: UploadReading, **changes: Any) -> None:
    """End the upload, if it is still ours."""
    _flag_skew(upload, reading)
    files = [{name: value for name, value in file.items() if value not in _EMPTY} for file in reading.files]
    mine = Upload.objects.filter(pk=upload.pk, claim=claim, state=State.PROCESSING)
    changed = mine.update(
        **{"error": None, **changes}, files=files, finished_at=timezone.now(), claim=None, lease_until=None
    )
    if changed != 1:
        raise ClaimLost


def _flag_skew(upload: Upload, reading: UploadReading) -> None:
    """Say so where what is told of the start is more than a day from when it came, and CI sent it just now."""
    told = _told_start(RunMetadata.from_json(upload.metadata), reading)
    if told is None or upload.token_id is None or abs(told - upload.received_at) <= _SKEW:
        return
    kept = "it is not believed" if told > upload.received_at else "it is kept"
    sentence = f"The run says that it started at {told.isoformat()}, over a day from when it arrived: {kept}."
    reading.files[0].setdefault("warnings", []).append({"code": "clock_skew", "sentence": sentence, "count": 1})


def _give_back(upload: Upload, claim: uuid.UUID, error: Exception) -> None:
    """After an error of ours: try again later, a bounded number of times, then keep it for a person to look at."""
    mine = Upload.objects.filter(pk=upload.pk, claim=claim, state=State.PROCESSING)
    if upload.tries < settings.UPLOAD_TRIES:
        mine.update(state=State.RECEIVED, claim=None, lease_until=Now() + _pause(upload.tries))
    else:
        sentence = (
            f"Processing failed {upload.tries} times ({type(error).__name__}). "
            "The bytes are kept; process it again after an update, or report it."
        )
        _set_aside(mine, "processing_failed", sentence)


def _set_aside(uploads: QuerySet[Upload], code: str, sentence: str) -> None:
    """Give up on uploads, and say why; their bytes are kept for a person to look at."""
    error = {"code": code, "sentence": sentence}
    uploads.update(state=State.FAILED, claim=None, finished_at=timezone.now(), error=error)


class _Chunks(io.RawIOBase):
    """An upload's stored bytes as a stream: one chunk in memory at a time."""

    def __init__(self, upload_id: int) -> None:
        self._rest = memoryview(b"")
        self._upload_id = upload_id
        self._position = 0
        self._ended = False

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        if not self._rest and not self._ended:
            chunks = UploadChunk.objects.filter(upload_id=self._upload_id, position=self._position)
            self._rest = memoryview(bytes(chunks.values_list("content", flat=True).first() or b""))
            self._position += 1
            self._ended = len(self._rest) < CHUNK_BYTES
        size = min(len(buffer), len(self._rest))
        buffer[:size] = self._rest[:size]
        self._rest = self._rest[size:]
        return size


def uploads_sweep() -> list[int]:
    """Find what was received and is not being processed; returns what a worker should be woken for."""
    past = Q(lease_until__lt=Now()) | Q(lease_until__gt=Now() + _longest_lease())
    abandoned = Upload.objects.filter(past, state=State.PROCESSING)
    sentence = (
        f"The worker died {settings.UPLOAD_TRIES} times over this upload, often for lack of memory. "
        "The bytes are kept; it can be processed again."
    )
    _set_aside(abandoned.filter(tries__gte=settings.UPLOAD_TRIES), "worker_died", sentence)
    abandoned.update(state=State.RECEIVED, claim=None, lease_until=None)
    fresh = Q(received_at__range=(Now() - _GRACE, Now() + _GRACE))
    due = Q(lease_until=None) & ~fresh | past
    waiting = Upload.objects.filter(due, state=State.RECEIVED).order_by("received_at")
    ids = list(waiting.values_list("id", flat=True)[:_SWEPT_AT_ONCE])
    Upload.objects.filter(pk__in=ids, state=State.RECEIVED).update(lease_until=Now() + _lease())
    return ids


def _pause(tries: int) -> timedelta:
    """How long to wait after so many tries: twice as long each time, up to some minutes."""
    return min(timedelta(seconds=2 ** min(tries, 20)), _LONGEST_PAUSE)


def _longest_lease() -> timedelta:
    """No lease of ours reaches further ahead: one that does was given before the clock was put back."""
    return 2 * max(_lease(), _LONGEST_PAUSE)
