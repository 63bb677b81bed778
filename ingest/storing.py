"""Stores a parsed report: roster, vectors, attempts, failures."""

import hashlib
from collections.abc import Iterable, Iterator

import numpy as np

from ingest.clock import Clock
from ingest.interning import (
    InternedTests,
    roster_intern,
    run_hold,
    signatures_intern,
    test_ids,
)
from ingest.junit.report import Attempt as ParsedAttempt
from ingest.junit.report import Failure as ParsedFailure
from ingest.junit.report import ParsedReport, Provenance
from ingest.lab.values import report_values_store
from ingest.metadata import RunMetadata
from ingest.models import Attempt, Failure, Report, Roster, Run, Upload
from ingest.pgcopy import copy_rows
from ingest.selectors import run_files
from ingest.signature import FailureSignature, signature_of
from ingest.vectors import AMBIGUOUS, RETRIED, Numbers, encode_durations, encode_order, order_digest

_RUN_ERRORS_KEPT = 50
_RUN_ERROR_TEXT = 8_000


_BROWSER = "browser"
_MOST_BROWSERS = 10


class RunChanged(Exception):
    """Another upload added files to the run while this one was read: read it again with those known."""


def run_store(*, upload: Upload, host: str, metadata: RunMetadata, clock: Clock, known: frozenset[bytes]) -> Run:
    """The upload's run, locked until the transaction ends. Raises RunChanged if it has files that are not `known`."""
    key = bytes(upload.run_key)
    run, created = run_hold(
        project_id=upload.project_id,
        key=key,
        metadata=metadata,
        host=host,
        clock=clock,
        experiment_id=upload.experiment_id,
    )
    there = frozenset() if created else run_files(upload.project_id, key, besides=upload.pk)
    if there != known:
        raise RunChanged
    if upload.untrusted:
        Run.objects.filter(pk=run.pk).update(untrusted=True)
        run.untrusted = True
    return run


def browsers_note(*, run: Run, metadata: RunMetadata, browsers: set[str]) -> None:
    """Add the browsers that its reports name to a run's environment, unless CI states one.

    Neither the run's key nor its kind changes with them: a new version of a browser makes no new kind of run."""
    if not browsers or _BROWSER in metadata.environment:
        return
    known = run.environment.get(_BROWSER, "")
    together = ", ".join(sorted({*filter(None, known.split(", ")), *browsers})[:_MOST_BROWSERS])
    if together != known:
        run.environment = {**run.environment, _BROWSER: together}
        run.save(update_fields=["environment"])


def report_store(
    *,
    upload: Upload,
    run: Run,
    parsed: ParsedReport,
    tests: InternedTests,
    clock: Clock,
    order_executed: bool,
) -> Report:
    """Store an upload's results of its run. Call it inside the transaction that locks the run.

    A report that this upload stored earlier from the same files keeps its id, and with it people's decisions on it."""
    files = b"".join(sorted(parsed.content_digests))
    ascending = np.argsort(tests.numbers, kind="stable")
    numbers = tests.numbers[ascending]
    roster = roster_intern(project_id=upload.project_id, numbers=numbers)
    order_reliable = (parsed.order_reliable or order_executed) and not parsed.partial
    digest = hashlib.sha256(files).digest()
    report = Report(
        pk=_room_for(upload, run, digest),
        project_id=upload.project_id,
        run=run,
        upload=upload,
        roster=roster,
        content_digest=digest,
        file_digests=files,
        started_at=clock.started_at,
        placed_at=clock.placed_at,
        kept_from=clock.kept_from,
        verdicts=_verdict_bytes(parsed)[ascending].tobytes(),
        durations=encode_durations(np.array(parsed.durations)[ascending]),
        order_reliable=order_reliable,
        producer=parsed.producer[:40],
        partial=parsed.partial,
        run_errors=_run_errors(parsed),
        untrusted=upload.untrusted,
        experiment_id=upload.experiment_id,
        **(
            _order_fields(roster, tests.numbers, ascending, usual=upload.experiment_id is None)
            if order_reliable
            else {}
        ),
        **parsed.counts(),
    )
    report.save(force_insert=report.pk is None, force_update=report.pk is not None)
    _attempts_store(upload.project_id, report, parsed, tests.numbers)
    if parsed.values:
        texts = {int(tests.numbers[row]): list(own) for row, own in parsed.values.items()}
        report_values_store(report=report, run=run, texts=texts)
    return report


def _room_for(upload: Upload, run: Run, digest: bytes) -> int | None:
    """The id of the report that this upload stored from the same files, now emptied; None if there is none."""
    pk = Report.all_objects.filter(upload=upload, run=run, content_digest=digest).values_list("pk", flat=True).first()
    for rows in (Failure, Attempt) if pk is not None else ():
        rows.objects.filter(report=pk)._raw_delete("default")
    return pk


def reports_drop(*, upload: Upload, besides: Iterable[Report]) -> None:
    """Delete the upload's earlier reports, which a new reading replaces."""
    if upload.run_id is not None:
        Report.all_objects.filter(upload=upload).exclude(pk__in=[report.pk for report in besides]).delete()


def _verdict_bytes(parsed: ParsedReport) -> "np.ndarray[tuple[int], np.dtype[np.uint8]]":
    verdicts = np.frombuffer(bytes(parsed.verdicts), dtype=np.uint8).copy()
    for row, attempts in parsed.attempts.items():
        if len(attempts) > 1:
            ambiguous = any(attempt.provenance is Provenance.AMBIGUOUS for attempt in attempts)
            verdicts[row] |= RETRIED | (AMBIGUOUS if ambiguous else 0)
    return verdicts


def _order_fields(roster: Roster, executed: Numbers, ascending: Numbers, *, usual: bool) -> dict[str, object]:
    """The order's digest, and the order itself if it is not the roster's usual one, which the first `usual` one is."""
    digest = order_digest(executed)
    if roster.usual_order_digest is None and usual:
        rows = encode_order(_rows_in_order(ascending))
        first = Roster.objects.filter(pk=roster.pk, usual_order_digest=None)
        if first.update(usual_order=rows, usual_order_digest=digest):
            return {"order_digest": digest}
        roster.refresh_from_db(fields=["usual_order_digest"])
    if roster.usual_order_digest == digest:
        return {"order_digest": digest}
    return {"order_digest": digest, "order": encode_order(_rows_in_order(ascending))}


def _rows_in_order(ascending: Numbers) -> Numbers:
    """For each step of the execution, the roster row of the test that ran."""
    rows = np.empty(len(ascending), dtype=np.int32)
    rows[ascending] = np.arange(len(ascending), dtype=np.int32)
    return rows


def _run_errors(parsed: ParsedReport) -> list[dict[str, str]]:
    return [
        {
            "where": error.where,
            "type": error.failure.type,
            "message": error.failure.message[:_RUN_ERROR_TEXT],
            "text": error.failure.text[:_RUN_ERROR_TEXT],
        }
        for error in parsed.run_errors[:_RUN_ERRORS_KEPT]
    ]


def _attempts_store(project_id: int, report: Report, parsed: ParsedReport, numbers: Numbers) -> None:
    if not parsed.attempts:
        return
    id_of = test_ids(project_id, (numbers[row] for row in parsed.attempts))
    by_test = [(id_of[int(numbers[row])], attempts) for row, attempts in parsed.attempts.items()]
    copy_rows(
        Attempt,
        ("report_id", "test_id", "ordinal", "verdict", "duration", "provenance"),
        (
            (report.pk, test_id, ordinal, int(attempt.verdict), attempt.duration, attempt.provenance.value)
            for test_id, attempts in by_test
            if len(attempts) > 1
            for ordinal, attempt in enumerate(attempts)
        ),
    )
    failing = list(_failing(by_test))
    signed = [_signed(failure) for *_, failure in failing]
    signature_ids = signatures_intern(project_id=project_id, signed=signed, seen_at=report.placed_at)
    copy_rows(
        Failure,
        (
            *("report_id", "test_id", "ordinal", "part", "verdict", "type", "message", "text"),
            *("system_out", "system_err", "signature_id"),
        ),
        (
            (
                *(report.pk, test_id, ordinal, part, int(failure.verdict), failure.type, failure.message, failure.text),
                *((attempt.system_out, attempt.system_err) if part == 0 else ("", "")),
                signature_ids[signature.digest],
            )
            for (test_id, ordinal, attempt, part, failure), signature in zip(failing, signed, strict=True)
        ),
    )


def _failing(
    by_test: list[tuple[int, tuple[ParsedAttempt, ...]]],
) -> Iterator[tuple[int, int, ParsedAttempt, int, ParsedFailure]]:
    """Every failure of every failing attempt; an attempt without details has one too."""
    for test_id, attempts in by_test:
        for ordinal, attempt in enumerate(attempts):
            if attempt.verdict.failing:
                for part, failure in enumerate(attempt.failures or (ParsedFailure(attempt.verdict),)):
                    yield test_id, ordinal, attempt, part, failure


def _signed(failure: ParsedFailure) -> FailureSignature:
    return signature_of(failure.type, failure.message, failure.text)
