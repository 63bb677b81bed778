"""Many files, one report: Surefire writes a file a class, Bazel a file an attempt, shards a file each.

Only the workers of one session stay apart: the sequence of each is an order, and no order joins them."""

import re

from ingest.junit.attempts import Occurrence, join
from ingest.junit.ordering import worker_of
from ingest.junit.recipes import Again
from ingest.junit.report import ParsedReport
from ingest.junit.rows import set_attempts
from ingest.verdict import Verdict

_MOST_WORKERS = 256
"""More than this are no session's workers."""
_BAZEL_ATTEMPT = re.compile(r"test_attempts/attempt_([0-9]{1,4})\.xml\Z")


class Merger:
    """Collects files, and makes reports of them."""

    def __init__(self, attempts: int, known: frozenset[bytes] = frozenset()) -> None:
        self._files: list[tuple[str, ParsedReport]] = []
        self._attempts = attempts
        self._seen = set(known)

    def add(self, name: str, report: ParsedReport) -> bool:
        """Add a file; False where the run has it already, in this upload or an earlier one: it counts once."""
        new = set(report.content_digests) - self._seen
        if report.content_digests and not new:
            return False
        self._seen |= new
        self._files.append((name, report))
        return True

    def reports(self) -> list[ParsedReport]:
        """One report of all files; one of each file where each is the sequence of another worker."""
        if self._are_workers():
            return [report for _, report in sorted(self._files, key=lambda item: worker_of(item[1]))]
        return [self._merged()]

    def _are_workers(self) -> bool:
        """Whether every file is another worker's, and no test stands in two: else they speak of the same executions."""
        workers = {worker_of(report) for _, report in self._files}
        if "" in workers or not 1 < len(workers) == len(self._files) <= _MOST_WORKERS:
            return False
        if any(_BAZEL_ATTEMPT.search(name) for name, _ in self._files):
            return False
        tests = {key[4] or key for _, report in self._files for key in report.keys}
        return len(tests) == sum(len(report.keys) for _, report in self._files)

    def _merged(self) -> ParsedReport:
        """All files in the order in which their suites ran, where all say when."""
        if len(self._files) == 1:
            return self._files[0][1]
        files = sorted(self._files, key=_attempt_number)
        if all(report.timestamp for _, report in files):
            files.sort(key=lambda item: (_attempt_number(item), item[1].timestamp))
        whole = ParsedReport()
        joiner = _Joiner(whole, self._attempts)
        for name, report in files:
            joiner.add(name, report)
        joiner.finish()
        return whole


def _attempt_number(item: tuple[str, ParsedReport]) -> int:
    """Bazel keeps earlier attempts in test_attempts/attempt_N.xml and the last one in test.xml."""
    match = _BAZEL_ATTEMPT.search(item[0])
    return int(match[1]) if match else 10_000


class _Joiner:
    def __init__(self, whole: ParsedReport, attempts: int) -> None:
        self._whole = whole
        self._attempts = attempts
        self._row_of: dict[object, int] = {}
        self._again: dict[int, list[Occurrence]] = {}
        self._retried: set[int] = set()
        self._producers: set[str] = set()

    def add(self, name: str, report: ParsedReport) -> None:
        whole = self._whole
        earlier_attempt = bool(_BAZEL_ATTEMPT.search(name))
        for row, key in enumerate(report.keys):
            at = self._row_of.setdefault(key[4] or key, len(whole.keys))
            if at < len(whole.keys):
                self._named_again(at, _occurrence(report, row))
                continue
            if earlier_attempt:
                self._retried.add(at)
            whole.keys.append(key)
            whole.verdicts.append(report.verdicts[row])
            whole.durations.append(report.durations[row])
            whole.files.append(report.files[row])
            whole.lines.append(report.lines[row])
            if attempts := report.attempts.get(row):
                whole.attempts[at] = attempts
        self._add_rest(report)

    def _add_rest(self, report: ParsedReport) -> None:
        whole = self._whole
        self._producers.add(report.producer)
        whole.suites += report.suites
        whole.run_errors += report.run_errors
        whole.content_digests += report.content_digests
        whole.warnings.extend(report.warnings)
        whole.partial |= report.partial
        whole.hostname = whole.hostname or report.hostname
        for name, value in report.properties.items():
            whole.properties.setdefault(name, value)
        if report.timestamp and (not whole.timestamp or report.timestamp < whole.timestamp):
            whole.timestamp = report.timestamp
        if report.started_at and (whole.started_at is None or report.started_at < whole.started_at):
            whole.started_at = report.started_at

    def _named_again(self, row: int, occurrence: Occurrence) -> None:
        seen = self._again.setdefault(row, [_occurrence(self._whole, row)])
        if sum(max(len(one.attempts), 1) for one in seen) < self._attempts:
            seen.append(occurrence)
        elif occurrence.verdict.failing and not seen[-1].verdict.failing:
            seen[-1] = occurrence

    def finish(self) -> None:
        whole = self._whole
        for row, occurrences in self._again.items():
            again = Again.RETRIED if row in self._retried else Again.UNKNOWN
            set_attempts(whole, row, *join(occurrences, again))
        whole.producer = self._producers.pop() if len(self._producers) == 1 else "several"
        whole.order_reliable = False


def _occurrence(report: ParsedReport, row: int) -> Occurrence:
    case = report.case(row)
    return Occurrence(Verdict(case.verdict), case.duration, report.attempts.get(row, ()))
