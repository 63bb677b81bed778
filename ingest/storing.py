"""From a parsed report to its rows: roster, vectors, attempts, failures."""

import hashlib
from collections.abc import Iterator
from datetime import datetime

import numpy as np

from ingest.copying import copy_rows
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
from ingest.metadata import RunMetadata
from ingest.models import Attempt, Failure, Report, Roster, Run, Upload
from ingest.selectors import run_files
from ingest.signature import Signed, signature_of
from ingest.vectors import AMBIGUOUS, RETRIED, Numbers, encode_durations, encode_order, order_digest

_RUN_ERRORS_KEPT = 50
_RUN_ERROR_TEXT = 8_000


class RunChanged(Exception):
    """Another upload brought files to the run while this one was read: read again with what is known now."""


def run_store(
    *, upload: Upload, host: str, metadata: RunMetadata, started_at: datetime, known: frozenset[bytes]
) -> Run:
    """The upload's run, held until the transaction ends, with nothing in it that was not `known` when we read.

    What this upload stored before, if it is processed again, makes room for what the reader makes of it now."""
    key = bytes(upload.run_key)
    run, created = run_hold(project_id=upload.project_id, key=key, metadata=metadata, host=host, started_at=started_at)
    there = frozenset() if created else run_files(upload.project_id, key, besides=upload.pk)
    if there != known:
        raise RunChanged
    if upload.run_id is not None:
        Report.objects.filter(upload=upload).delete()
    if upload.untrusted:
        Run.objects.filter(pk=run.pk).update(untrusted=True)
        run.untrusted = True
    return run


def report_store(
    *,
    upload: Upload,
    run: Run,
    parsed: ParsedReport,
    tests: InternedTests,
    started_at: datetime,
    order_executed: bool,
) -> Report:
    """Write what an upload said of its run. Call it inside the transaction that holds the run."""
    files = b"".join(sorted(parsed.content_digests))
    ascending = np.argsort(tests.numbers, kind="stable")
    numbers = tests.numbers[ascending]
    roster = roster_intern(project_id=upload.project_id, numbers=numbers)
    order_reliable = (parsed.order_reliable or order_executed) and not parsed.partial
    report = Report.objects.create(
        project_id=upload.project_id,
        run=run,
        upload=upload,
        roster=roster,
        content_digest=hashlib.sha256(files).digest(),
        file_digests=files,
        started_at=started_at,
        verdicts=_verdict_bytes(parsed)[ascending].tobytes(),
        durations=encode_durations(np.array(parsed.durations)[ascending]),
        order_reliable=order_reliable,
        producer=parsed.producer[:40],
        partial=parsed.partial,
        run_errors=_run_errors(parsed),
        untrusted=upload.untrusted,
        **(_order_fields(roster, tests.numbers, ascending) if order_reliable else {}),
        **parsed.counts(),
    )
    _attempts_store(upload.project_id, report, parsed, tests.numbers)
    return report


def _verdict_bytes(parsed: ParsedReport) -> "np.ndarray[tuple[int], np.dtype[np.uint8]]":
    verdicts = np.frombuffer(bytes(parsed.verdicts), dtype=np.uint8).copy()
    for row, attempts in parsed.attempts.items():
        if len(attempts) > 1:
            ambiguous = any(attempt.provenance is Provenance.AMBIGUOUS for attempt in attempts)
            verdicts[row] |= RETRIED | (AMBIGUOUS if ambiguous else 0)
    return verdicts


def _order_fields(roster: Roster, executed: Numbers, ascending: Numbers) -> dict[str, object]:
    """The order's digest, and the order itself where it is not the roster's usual one."""
    digest = order_digest(executed)
    if roster.usual_order_digest is None:
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
    signature_ids = signatures_intern(project_id=project_id, signed=signed, seen_at=report.started_at)
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
    """Every failure of every failing attempt; an attempt that says nothing of it still has one."""
    for test_id, attempts in by_test:
        for ordinal, attempt in enumerate(attempts):
            if attempt.verdict.failing:
                for part, failure in enumerate(attempt.failures or (ParsedFailure(attempt.verdict),)):
                    yield test_id, ordinal, attempt, part, failure


def _signed(failure: ParsedFailure) -> Signed:
    return signature_of(failure.type, failure.message, failure.text)
