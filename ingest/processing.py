"""The way of an upload after its 202: claimed by one worker, read, stored in one transaction, finished or set aside.

PostgreSQL is the queue of record; the broker only wakes workers. Whatever happens to a worker, only the holder of the
claim can finish the upload."""

import io
import logging
from collections.abc import Callable
from contextlib import suppress
from datetime import datetime, timedelta
from typing import Any

import numpy as np
from django.conf import settings
from django.db import InterfaceError, OperationalError, transaction
from django.db.models import Q, QuerySet
from django.db.models.functions import Now
from django.utils import timezone

from ingest.attachments.services import attachments_place
from ingest.bundle import read_parts
from ingest.clock import PLAUSIBLE, Clock, in_utc
from ingest.fair_queue import Turns
from ingest.interning import InternedTests, tests_intern
from ingest.junit.report import ParsedReport
from ingest.junit.upload import Reader, UploadReading, read_upload
from ingest.lab.archive import ExperimentReading, read_experiment
from ingest.lab.services import experiment_store, order_places
from ingest.lab.trace_files import UploadTraces
from ingest.lab.trace_services import trace_warnings_add, traces_store
from ingest.leases import FREE, Claim, ClaimLost, Lease
from ingest.metadata import ORDER_EXECUTED, RunMetadata
from ingest.models import Run, Upload, UploadChunk
from ingest.reach.services import reach_store, reach_warnings_add
from ingest.reach.upload_files import UploadReach
from ingest.redaction import redact, redact_report
from ingest.renames import renames_follow, renames_suggest
from ingest.selectors import run_files
from ingest.services import CHUNK_BYTES
from ingest.storing import RunChanged, browsers_note, report_store, reports_drop, run_store
from ingest.vectors import Numbers

logger = logging.getLogger(__name__)
State = Upload.State

_SWEPT_AT_ONCE = 500
_GRACE = timedelta(seconds=5)
"""An upload that was received this long ago and is not claimed yet has lost its wake-up call."""
_EMPTY = (0, False, "", None, [], {})


_LONGEST_PAUSE = timedelta(minutes=5)
_turns = Turns()
"""As this process goes round the projects."""


def _lease() -> timedelta:
    return timedelta(seconds=settings.UPLOAD_LEASE_SECONDS)


LEASE = Lease(
    model=Upload,
    length=_lease,
    held=Q(state=State.PROCESSING),
    most_tries=lambda: settings.UPLOAD_TRIES,
    longest=lambda: 2 * max(_lease(), _LONGEST_PAUSE),
)


def upload_claim(*, upload_id: int) -> Claim[Upload] | None:
    """Take a received upload for processing. Exactly one caller gets a claim."""
    return LEASE.claim(upload_id, Q(state=State.RECEIVED), state=State.PROCESSING)


def upload_take_over(*, upload: Upload) -> None:
    """Free an upload that an interrupted import left behind. Should its old holder live, its result is thrown away."""
    left = Upload.objects.filter(pk=upload.pk, token=None).exclude(state=State.PROCESSED)
    left.update(**FREE, state=State.RECEIVED, tries=0)


def upload_process(*, upload_id: int) -> Upload | None:
    """Process an upload from claim to end. None where it was not there to be claimed, or was not brought to an end."""
    claim = upload_claim(upload_id=upload_id)
    return upload_process_claimed(claim=claim) if claim is not None else None


def upload_claim_in_turn(*, woken_for: int, put_back: Callable[[int], None]) -> Claim[Upload] | None:
    """Take the upload whose turn it is. `put_back` gets the one that the worker was woken for, if that has to wait."""
    claim = _turns.claim(woken_for=woken_for, claim=upload_claim)
    if claim is None:  # somebody held its row for a moment, or it is done
        return upload_claim(upload_id=woken_for)
    if claim.key != woken_for and Upload.objects.filter(pk=woken_for, state=State.RECEIVED).exists():
        put_back(woken_for)
    return claim


def upload_process_claimed(*, claim: Claim[Upload]) -> Upload | None:
    """Process an upload that is ours. None where it was not brought to an end."""
    upload = Upload.objects.select_related("project", "experiment").get(pk=claim.key)
    try:
        with claim.kept_alive():
            done = _process(upload, claim)
    except ClaimLost:
        logger.warning("upload %s: the claim was lost; its new holder finishes it", upload.pk)
        return None
    except (OperationalError, InterfaceError):
        raise  # the database is away: the claim runs out by itself, and the sweep tries again
    except Exception as error:
        logger.exception("upload %s: processing failed", upload.pk)
        _give_back(upload, claim, error)
        return None
    if done is not None:
        run, created = done
        try:
            renames_suggest(run=run, created=created)
        except Exception:
            logger.exception("upload %s: no renames suggested", upload.pk)
    return upload


def _process(upload: Upload, claim: Claim[Upload]) -> tuple[Run, Numbers] | None:
    """Read and store; again where another upload of the same run was quicker."""
    while True:
        known = run_files(upload.project_id, bytes(upload.run_key), besides=upload.pk)
        try:
            return _read_and_store(upload, claim, known)
        except RunChanged:
            logger.info("upload %s: its run changed meanwhile; it is read again", upload.pk)


def _read_and_store(upload: Upload, claim: Claim[Upload], known: frozenset[bytes]) -> tuple[Run, Numbers] | None:
    """The run, and the tests that it is the first to name; None where it brought nothing."""
    words = redact if upload.project.redact else str
    traces, reach = UploadTraces(settings.TRACE_LIMITS, words), UploadReach(settings.REACH_LIMITS, words)
    reading = _read(upload, known, lambda member: traces(member) or reach(member))
    if not reading.read and not ((traces.traces or reach.files or reach.change) and known):
        _finish(upload, claim, reading, state=State.REJECTED, error=_rejection(reading))
        return None
    metadata = RunMetadata.from_json(upload.metadata)
    clock = _clock(upload, metadata, reading)
    reports = map(redact_report, reading.reports) if upload.project.redact else reading.reports
    parsed = [(report, _tests(upload, report, clock.placed_at)) for report in reports]
    with transaction.atomic():
        run = run_store(upload=upload, host=reading.hostname, metadata=metadata, clock=clock, known=known)
        browsers_note(run=run, metadata=metadata, browsers=reading.browsers)
        executed = metadata.order == ORDER_EXECUTED
        stored = [
            report_store(upload=upload, run=run, parsed=report, tests=tests, clock=clock, order_executed=executed)
            for report, tests in (parsed if reading.new else ())
        ]
        reports_drop(upload=upload, besides=stored)
        if isinstance(reading, ExperimentReading):
            experiment_store(upload=upload, reading=reading, reports=stored)
        elif not run.untrusted:
            for report, tests in parsed:
                numbers = dict(zip(report.keys, tests.numbers.tolist(), strict=True)) if report.former else {}
                renames_follow(project_id=upload.project_id, former=report.former, numbers=numbers)
        traces_store(upload=upload, run=run, traces=traces)
        trace_warnings_add(reading.files, traces.warnings)
        if upload.experiment_id is None:
            reach_store(upload=upload, run=run, sent=reach)
            reach_warnings_add(reading.files, reach.warnings)
        _finish(upload, claim, reading, state=State.PROCESSED, run=run, removed_at=None)
        attachments_place(run=run)
    if not reading.new or upload.experiment_id is not None:
        return None
    return run, np.concatenate([tests.created for _, tests in parsed])


def _read(upload: Upload, known: frozenset[bytes], besides: Reader) -> UploadReading:
    parts = read_parts(io.BufferedReader(_Chunks(upload.pk), 1024 * 1024))
    if upload.experiment is None:
        return read_upload(parts, settings.LIMITS, known, besides)
    places = order_places(upload.experiment, besides=upload.pk)
    return read_experiment(parts, settings.LIMITS, upload.experiment.key, known, places)


def _tests(upload: Upload, parsed: ParsedReport, seen_at: datetime) -> InternedTests:
    return tests_intern(
        project_id=upload.project_id,
        keys=parsed.keys,
        files=parsed.files,
        seen_at=seen_at,
        in_ci=upload.experiment_id is None,
    )


def _stated_start(metadata: RunMetadata, reading: UploadReading) -> datetime | None:
    """When the run started, by CI or by the report."""
    return in_utc(metadata.started_at) or in_utc(reading.started_at)


def _clock(upload: Upload, metadata: RunMetadata, reading: UploadReading) -> Clock:
    return Clock(
        received_at=upload.received_at,
        started_at=_stated_start(metadata, reading) or upload.stated_at or upload.received_at,
        kept_from=upload.kept_from or upload.received_at,
        stated_at=upload.stated_at,
    )


_NO_REPORT = {
    False: {"code": "empty", "sentence": "The upload holds no file."},
    True: {"code": "trace_without_test", "sentence": "The upload holds traces, and no report has their tests."},
}
"""By whether there is a file."""


def _rejection(reading: UploadReading) -> dict[str, Any]:
    first = reading.first_error or _NO_REPORT[bool(reading.files)]
    if len(reading.files) <= 1:
        return {"code": first["code"], "sentence": first["sentence"]}
    return {
        "code": "nothing_readable",
        "sentence": f"None of {len(reading.files):,} files could be read: {first['sentence']}",
    }


def _finish(upload: Upload, claim: Claim[Upload], reading: UploadReading, **changes: Any) -> None:
    """End the upload, if it is still ours."""
    _flag_skew(upload, reading)
    files = [{name: value for name, value in file.items() if value not in _EMPTY} for file in reading.files]
    claim.release(**{"error": None, **changes}, files=files, finished_at=timezone.now())


def _flag_skew(upload: Upload, reading: UploadReading) -> None:
    """Say so where the runner's clock is more than a day from ours, and no import states the date."""
    started = _stated_start(RunMetadata.from_json(upload.metadata), reading)
    if started is None or upload.stated_at is not None or abs(started - upload.received_at) <= PLAUSIBLE:
        return
    sentence = (
        f"The run says that it started at {started.isoformat()}, over a day from when it arrived: "
        "that is shown, not used for ordering. Set the clock of the machine that ran it."
    )
    reading.files[0].setdefault("warnings", []).append({"code": "clock_skew", "sentence": sentence, "count": 1})


def _give_back(upload: Upload, claim: Claim[Upload], error: Exception) -> None:
    """After an error of ours: try again later, a bounded number of times, then keep it for a person to look at."""
    if upload.tries < settings.UPLOAD_TRIES:
        with suppress(ClaimLost):
            claim.release(pause=_pause(upload.tries), state=State.RECEIVED)
    else:
        sentence = (
            f"Processing failed {upload.tries} times ({type(error).__name__}). "
            "The bytes are kept; process it again after an update, or report it."
        )
        _set_aside(claim.rows, "processing_failed", sentence)


def _set_aside(uploads: QuerySet[Upload], code: str, sentence: str) -> None:
    """Give up on uploads, and say why; their bytes are kept for a person to look at."""
    error = {"code": code, "sentence": sentence}
    uploads.update(**FREE, state=State.FAILED, finished_at=timezone.now(), error=error)


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
    sentence = (
        f"The worker died {settings.UPLOAD_TRIES} times over this upload, often for lack of memory. "
        "The bytes are kept; it can be processed again."
    )
    _set_aside(LEASE.hopeless(), "worker_died", sentence)
    Upload.objects.filter(LEASE.abandoned()).update(**FREE, state=State.RECEIVED)
    fresh = Q(received_at__range=(Now() - _GRACE, Now() + _GRACE))
    due = Q(lease_until=None) & ~fresh | LEASE.past()
    waiting = Upload.objects.filter(due, state=State.RECEIVED).order_by("received_at")
    ids = list(waiting.values_list("id", flat=True)[:_SWEPT_AT_ONCE])
    LEASE.postpone(Upload.objects.filter(pk__in=ids, state=State.RECEIVED))
    return ids


def _pause(tries: int) -> timedelta:
    """How long to wait after so many tries: twice as long each time, up to some minutes."""
    return min(timedelta(seconds=2 ** min(tries, 20)), _LONGEST_PAUSE)
