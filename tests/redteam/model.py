"""What the gate would answer to a submission, without a database: read, gathered and decided in one go.

`test_monotony.py` sends a part of what it makes to the real gate as well, and compares."""

import io
from collections import Counter
from collections.abc import Callable

import numpy as np

from analytics.runs.failing_tests import Excuse
from dashboard.quarantine.gate.decision import decide
from dashboard.quarantine.gate.inputs import Decision, FailingTest, Inputs
from dashboard.quarantine.gate.runners import runner_behind
from ingest.junit.report import ParsedReport, Provenance, TestKey
from ingest.junit.upload import read_upload
from ingest.verdict import Verdict
from tests.redteam.submissions import Submission


def judge(
    sent: Submission, is_quarantined: Callable[[TestKey], bool], runner: str = "", *, repeated: bool = False
) -> Decision:
    """The decision on a run, where `norm` tests are usual."""
    return decide(inputs_of(sent, is_quarantined, runner, repeated=repeated))


def inputs_of(
    sent: Submission, is_quarantined: Callable[[TestKey], bool], runner: str = "", *, repeated: bool = False
) -> Inputs:
    """What is known of a run. `repeated`: names that it has several times were there several times when they were
    quarantined."""
    known: frozenset[bytes] = frozenset()
    files, reports, uploads = [], [], []
    for upload in sent.uploads:
        reading = read_upload([(file.name, io.BytesIO(file.content)) for file in upload], known=known)
        files += reading.files
        if reading.new:
            reports += reading.reports
            uploads.append(reading.reports)
            known |= {digest for report in reading.reports for digest in report.content_digests}
    if not reports:
        return Inputs(sent.exit_code, read=False, not_understood=_not_understood(files))
    failing, ambiguous, executed = _results(reports)
    ran = Counter(key for upload in uploads for key in _results(upload)[2])
    ambiguous = set() if repeated else ambiguous | {key for key in failing if ran[key] > 1}
    tests = [
        FailingTest(number, str(key), ambiguous=key in ambiguous, excuse=Excuse(1) if is_quarantined(key) else None)
        for number, key in enumerate(sorted(failing))
    ]
    return Inputs(
        sent.exit_code,
        runner or runner_behind((file["producer"] for file in files if file["producer"]), sent.exit_code, {}),
        not_understood=_not_understood(files),
        partial=any(file.get("partial") for file in files),
        run_errors=sum(len(report.run_errors) for report in reports),
        tests=len(executed),
        executed=len(executed),
        norm=sent.norm,
        ended_failing=any(file.get("ended_failing") for file in files),
        failing=tests,
    )


def keys_of(content: bytes) -> set[TestKey]:
    """The tests that a file names."""
    return {key for report in read_upload([("a.xml", io.BytesIO(content))]).reports for key in report.keys}


def _results(reports: list[ParsedReport]) -> tuple[set[TestKey], set[TestKey], set[TestKey]]:
    failing, ambiguous, executed = set(), set(), set()
    for report in reports:
        verdicts = np.frombuffer(bytes(report.verdicts), np.uint8)
        for row, key in enumerate(report.keys):
            executed |= {key} if verdicts[row] != Verdict.SKIP else set()
            if Verdict(int(verdicts[row])).failing:
                failing.add(key)
                attempts = report.attempts.get(row, ())
                if len(attempts) > 1 and any(attempt.provenance is Provenance.AMBIGUOUS for attempt in attempts):
                    ambiguous.add(key)
    return failing, ambiguous, executed


def _not_understood(files: list[dict]) -> list[str]:
    refused = [file["error"]["sentence"] for file in files if file["error"] and file["account"] != "not_results"]
    return refused + [line["sentence"] for file in files for line in file["not_understood"]]
