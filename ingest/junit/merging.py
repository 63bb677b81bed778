"""Merges many files into one report: Surefire writes a file for each class, Bazel for each attempt, shards one each.

Only the workers of one session stay separate: each has an order of execution, and there is no order across them."""

import re
from collections import defaultdict

from ingest.junit.attempts import Occurrence, join
from ingest.junit.dialects import Repetition
from ingest.junit.execution_order import worker_of
from ingest.junit.problems import Warnings
from ingest.junit.report import ParsedReport, Provenance, TestKey
from ingest.junit.rows import set_attempts
from ingest.junit.times import sortable
from ingest.verdict import Verdict

_MOST_WORKERS = 256
"""No session has more workers."""
_BAZEL_ATTEMPT = re.compile(r"test_attempts/attempt_([0-9]{1,4})\.xml\Z")
_BAZEL_LAST = re.compile(r"(?:^|(?<=/))test\.xml\Z")
_LAST = 10_000


class Merger:
    """Collects files, and makes reports of them."""

    def __init__(self, attempts: int, known: frozenset[bytes] = frozenset()) -> None:
        self._files: list[tuple[str, ParsedReport]] = []
        self._attempts = attempts
        self._seen = set(known)
        self.warnings = Warnings()
        """Warnings about the files as a whole, once they are merged."""

    def add(self, name: str, report: ParsedReport) -> bool:
        """Add a file. Returns False if the run already has it, from this upload or an earlier one: it counts once."""
        new = set(report.content_digests) - self._seen
        if report.content_digests and not new:
            return False
        self._seen |= new
        self._files.append((name, report))
        return True

    def reports(self) -> list[ParsedReport]:
        """One report of all files, or one for each file if each is another worker's sequence."""
        shared = self._shared_ids()
        self._forget_formers()
        if not shared and self._are_workers():
            return [report for _, report in sorted(self._files, key=lambda item: worker_of(item[1]))]
        return [self._merged(shared)]

    def merged(self) -> ParsedReport:
        """One report of all files, even of different workers."""
        shared = self._shared_ids()
        self._forget_formers()
        return self._merged(shared)

    def _shared_ids(self) -> frozenset[str]:
        """Explicit ids shared by several names, which therefore identify nothing."""
        names: dict[str, set[tuple[str, ...]]] = defaultdict(set)
        for _, report in self._files:
            for key in report.keys:
                if key[4]:
                    names[key[4]].add(key[:4])
        return frozenset(explicit_id for explicit_id, several in names.items() if len(several) > 1)

    def _forget_formers(self) -> None:
        """Drop a former id that several tests share now: it does not identify any of them."""
        carriers: dict[str, set[TestKey]] = defaultdict(set)
        for _, report in self._files:
            for key, formers in report.former.items():
                for former in formers:
                    carriers[former[4]].add(key)
        for _, report in self._files:
            for key, formers in report.former.items():
                report.former[key] = tuple(
                    former for former in formers if not former[4] or len(carriers[former[4]]) == 1
                )

    def _are_workers(self) -> bool:
        """Whether every file is another worker's and no test is in two of them."""
        workers = {worker_of(report) for _, report in self._files}
        if "" in workers or not 1 < len(workers) == len(self._files) <= _MOST_WORKERS:
            return False
        if any(_BAZEL_ATTEMPT.search(name) for name, _ in self._files):
            return False
        tests = {key[4] or key for _, report in self._files for key in report.keys}
        return len(tests) == sum(len(report.keys) for _, report in self._files)

    def _merged(self, shared: frozenset[str]) -> ParsedReport:
        """All files, in the order in which their suites ran if all have timestamps."""
        if len(self._files) == 1 and not shared:
            return self._files[0][1]
        files = sorted(self._files, key=_attempt_number)
        if all(report.timestamp for _, report in files):
            files.sort(key=lambda item: (_attempt_number(item), sortable(item[1].timestamp)))
        whole = ParsedReport()
        attempt_files = any(_BAZEL_ATTEMPT.search(name) for name, _ in files)
        joiner = _Joiner(whole, self._attempts, shared, attempt_files=attempt_files)
        for name, report in files:
            joiner.add(name, report)
        joiner.finish()
        self._warn_of_ids(shared)
        if merged := joiner.merged:
            sentence = f"Several files name the same test, and the worst outcome counts, such as {merged[0][:200]!r}."
            self.warnings.add("merged_names", sentence, count=len(merged))
        whole.warnings.extend(self.warnings)
        return whole

    def _warn_of_ids(self, shared: frozenset[str]) -> None:
        if shared:
            sentence = f"More than one name has the flakeboard_id {min(shared)[:80]!r}: the names tell the tests apart."
            self.warnings.add("shared_id", sentence, count=len(shared))


def _attempt_number(item: tuple[str, ParsedReport]) -> int:
    """Bazel keeps earlier attempts in test_attempts/attempt_N.xml and the last one in test.xml."""
    match = _BAZEL_ATTEMPT.search(item[0])
    return int(match[1]) if match else _LAST


def _bazel_folder(name: str) -> str | None:
    """The folder of the Bazel test whose attempt this file is; None if it is no attempt."""
    match = _BAZEL_ATTEMPT.search(name) or _BAZEL_LAST.search(name)
    return name[: match.start()] if match else None


class _Joiner:
    def __init__(
        self, whole: ParsedReport, attempts: int, shared: frozenset[str], *, attempt_files: bool = False
    ) -> None:
        self._whole = whole
        self._attempts = attempts
        self._attempt_files = attempt_files
        self._shared = shared
        self._row_of: dict[object, int] = {}
        self._repeats = False
        """Whether files name tests of files before them."""
        self._again: dict[int, list[Occurrence]] = {}
        self._bazel: dict[int, list[tuple[str | None, int]]] = defaultdict(list)
        """Row -> folder and attempt number of each file that names the test."""
        self._producers: set[str] = set()
        self.merged: list[str] = []
        """Tests in more than one file that are not attempts."""

    def add(self, name: str, report: ParsedReport) -> None:
        if not self._add_new(report):
            self._add_each(name, report)
        self._add_rest(report)

    def _add_new(self, report: ParsedReport) -> bool:
        """Add all rows of a file at once, if no file before it names one of its tests: so most of thousands are."""
        if self._attempt_files or self._shared:
            return False
        whole, identities = self._whole, [key[4] or key for key in report.keys]
        if self._repeats and not self._row_of.keys().isdisjoint(identities):
            return False
        first = len(whole.keys)
        last = first + len(identities)
        self._row_of.update(zip(identities, range(first, last), strict=True))
        if len(self._row_of) < last:  # once at most, since the index is made anew as a whole
            self._row_of = {key[4] or key: row for row, key in enumerate(whole.keys)}
            self._repeats = True
            return False
        whole.keys += report.keys
        whole.verdicts += report.verdicts
        whole.durations += report.durations
        whole.files += report.files
        whole.lines += report.lines
        whole.values.update((first + row, values) for row, values in report.values.items())
        whole.attempts.update((first + row, attempts) for row, attempts in report.attempts.items())
        return True

    def _add_each(self, name: str, report: ParsedReport) -> None:
        whole, folder, number = self._whole, _bazel_folder(name), _attempt_number((name, report))
        for row, written in enumerate(report.keys):
            key = (*written[:4], "") if written[4] in self._shared else written
            at = self._row_of.setdefault(key[4] or key, len(whole.keys))
            if self._attempt_files:
                self._bazel[at].append((folder, number))
            if values := report.values.get(row):
                whole.values[at] = values
            if at < len(whole.keys):
                self._named_again(at, _occurrence(report, row))
                continue
            whole.keys.append(key)
            whole.verdicts.append(report.verdicts[row])
            whole.durations.append(report.durations[row])
            whole.files.append(report.files[row])
            whole.lines.append(report.lines[row])
            if attempts := report.attempts.get(row):
                whole.attempts[at] = attempts

    def _add_rest(self, report: ParsedReport) -> None:
        whole = self._whole
        self._producers.add(report.producer)
        whole.suites += report.suites
        whole.run_errors += report.run_errors
        for key, formers in report.former.items():
            whole.former[key] = tuple(dict.fromkeys((*whole.former.get(key, ()), *formers)))
        for unclear in report.not_understood:
            whole.add_unclear(unclear)
        whole.content_digests += report.content_digests
        whole.warnings.extend(report.warnings)
        whole.partial |= report.partial
        whole.hostname = whole.hostname or report.hostname
        for name, value in report.properties.items():
            whole.properties.setdefault(name, value)
        if report.timestamp and (not whole.timestamp or sortable(report.timestamp) < sortable(whole.timestamp)):
            whole.timestamp = report.timestamp
        if report.started_at and (whole.started_at is None or report.started_at < whole.started_at):
            whole.started_at = report.started_at

    def _named_again(self, row: int, occurrence: Occurrence) -> None:
        seen = self._again.setdefault(row, [_occurrence(self._whole, row)])
        if sum(max(len(case.attempts), 1) for case in seen) < self._attempts:
            seen.append(occurrence)
        elif occurrence.verdict.failing and not seen[-1].verdict.failing:
            seen[-1] = occurrence

    def finish(self) -> None:
        whole = self._whole
        for row, occurrences in self._again.items():
            believed = _are_attempts(self._bazel[row])
            again = Repetition.RETRIED if believed else Repetition.UNKNOWN
            set_attempts(whole, row, *join(occurrences, again, believed=believed))
            if whole.attempts[row][0].provenance is Provenance.AMBIGUOUS:
                self.merged.append(" ".join(filter(None, whole.keys[row][1:3])))
        whole.producer = self._producers.pop() if len(self._producers) == 1 else "several"
        whole.order_reliable = False


def _are_attempts(files: list[tuple[str | None, int]]) -> bool:
    """Whether files are the attempts of one Bazel test, each once and including the last."""
    folders, numbers = {folder for folder, _ in files}, {number for _, number in files}
    return len(folders) == 1 and None not in folders and len(numbers) == len(files) and _LAST in numbers


def _occurrence(report: ParsedReport, row: int) -> Occurrence:
    case = report.case(row)
    return Occurrence(Verdict(case.verdict), case.duration, report.attempts.get(row, ()))
