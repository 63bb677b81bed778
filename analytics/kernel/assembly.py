"""Builds a window from its reports, one at a time.

Passes are only counted; full sequences are kept only for tests that failed. So memory grows with tests and
failures, not with results."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt

from analytics.kernel.executions import Executions, Flags, Floats, Ints
from analytics.kernel.window import NO_MASKS, Attempts, Masks, Reports, SignatureRows, Window
from ingest.vectors import AMBIGUOUS, RETRIED, Bytes, verdicts_of
from ingest.verdict import Verdict

Seconds = npt.NDArray[np.float32]
_AT_ONCE = 8
"""Reports whose results are put into place together."""


@dataclass(frozen=True, slots=True)
class _Part:
    """One report's results of the tests that failed somewhere in the window."""

    place: npt.NDArray[np.int32]
    verdict: Bytes
    duration: Seconds


NO_PART = _Part(np.zeros(0, np.int32), np.zeros(0, np.uint8), np.zeros(0, np.float32))


def _alone(vector: Bytes) -> Flags:
    return np.asarray((vector & (RETRIED | AMBIGUOUS)) == 0)


@dataclass(frozen=True, slots=True)
class _Odd:
    """The few tests of a report that did anything but pass at the first attempt."""

    at: npt.NDArray[np.intp]
    verdict: Bytes
    alone: Flags
    """It has only one attempt; the attempts of the others come separately."""
    ambiguous: Flags

    @classmethod
    def of(cls, vector: Bytes) -> "_Odd":
        at = np.flatnonzero(vector != 0)  # much faster on flags than on bytes
        flagged = vector[at]
        return cls(at, verdicts_of(flagged), _alone(flagged), (flagged & AMBIGUOUS).astype(bool))

    @property
    def ran(self) -> Flags:
        return np.asarray(self.verdict != Verdict.SKIP)


class _Tally:
    """Counts consecutive reports of the same tests: all are taken to have passed, then the odd ones are corrected."""

    def __init__(self, numbers: Ints, place_of: npt.NDArray[np.int32], report: int) -> None:
        self.numbers, self.first, self.last, self.reports = numbers, report, report, 0
        self.twice = _named_twice(numbers)
        place = place_of[numbers]
        self._failing = np.flatnonzero(place >= 0)
        self._place = place[self._failing]
        self.less, self.failed, self.skipped, self.untimed = (np.zeros(len(numbers), dtype=np.int64) for _ in range(4))
        self.seconds = np.zeros(len(numbers))

    def add(self, report: int, odd: _Odd, durations: Seconds) -> float:
        """Count a report; returns the seconds of its tests with one attempt."""
        self.last, self.reports = report, self.reports + 1
        ran = odd.alone & odd.ran
        self.less[odd.at[~ran]] += 1
        self.failed[odd.at[ran]] += 1
        self.skipped[odd.at[odd.alone & ~ran]] += 1
        passed = durations.astype(np.float32)
        passed[odd.at] = 0
        unknown = np.flatnonzero(np.isnan(passed))
        passed[unknown] = 0
        self.untimed[odd.at] += 1
        self.untimed[unknown] += 1
        self.seconds += passed
        return float(passed.sum()) + float(np.nansum(durations[odd.at[odd.alone]]))

    def part(self, vector: Bytes, durations: Seconds) -> _Part:
        verdicts, seconds = vector[self._failing], durations[self._failing].astype(np.float32, copy=False)
        alone = _alone(verdicts)
        if alone.all():
            return _Part(self._place, verdicts, seconds)
        return _Part(self._place[alone], verdicts[alone], seconds[alone])


@dataclass(slots=True)
class Assembly:
    """Takes reports one at a time, ordered by time, and makes a window of them."""

    tests: int
    """Test numbers are below this."""
    failing: Ints
    """Numbers of the tests that failed at least once, ascending: known before the reports are read."""
    reports: int
    executed: Ints = field(init=False)
    failed: Ints = field(init=False)
    skipped: Ints = field(init=False)
    extra: Ints = field(init=False)
    first: Ints = field(init=False)
    last: Ints = field(init=False)
    _passed_seconds: Floats = field(init=False)
    _passes_timed: Ints = field(init=False)
    _report_seconds: Floats = field(init=False)
    _retry_seconds: Floats = field(init=False)
    _report_executed: Ints = field(init=False)
    _place_of: npt.NDArray[np.int32] = field(init=False)
    _parts: list[_Part] = field(init=False)
    _twice: list[Ints] = field(init=False)
    """Cells of tests that a report has under several of their names."""
    _tally: _Tally | None = None
    _excluded: int = 0

    def __post_init__(self) -> None:
        for name in ("executed", "failed", "skipped", "extra", "_passes_timed"):
            setattr(self, name, np.zeros(self.tests, dtype=np.int64))
        self.first, self.last = np.full(self.tests, -1, dtype=np.int64), np.full(self.tests, -1, dtype=np.int64)
        self._passed_seconds = np.zeros(self.tests)
        self._report_seconds, self._report_executed = np.zeros(self.reports), np.zeros(self.reports, dtype=np.int64)
        self._retry_seconds = np.zeros(self.reports)
        self._place_of = np.full(self.tests, -1, dtype=np.int32)
        self._place_of[self.failing] = np.arange(len(self.failing), dtype=np.int32)
        self._parts = [NO_PART] * self.reports
        self._twice = [np.zeros(0, dtype=np.int64)]

    def add(self, report: int, numbers: Ints, vector: Bytes, durations: Seconds) -> None:
        """Add a report: a byte (verdict and flags) and seconds (NaN if unknown) for each of its tests.

        It is fastest if many consecutive reports share the same array of numbers. Attempts of tests flagged RETRIED
        come with `build`; those flagged AMBIGUOUS are left out. So are those that the report has several times, under
        names that became one."""
        if self._tally is None or self._tally.numbers is not numbers:
            self._settle()
            self._tally = _Tally(numbers, self._place_of, report)
        if len(twice := self._tally.twice):
            vector = vector.copy()
            vector[twice] |= AMBIGUOUS
            self._twice.append(self._cells(report, numbers[twice]))
        odd = _Odd.of(vector)
        self._excluded += int(np.count_nonzero(odd.ambiguous))
        self._report_executed[report] = len(numbers) - np.count_nonzero(odd.ambiguous | ~odd.ran)
        self._report_seconds[report] += self._tally.add(report, odd, durations)
        self._parts[report] = self._tally.part(vector, durations)

    def _cells(self, report: int | Ints, numbers: Ints) -> Ints:
        return np.asarray(numbers + np.int64(self.tests) * report)

    def _settle(self) -> None:
        """Add the tally's counts to the totals."""
        tally, self._tally = self._tally, None
        if tally is None:
            return
        rows = _rows(tally.numbers)
        for total, added in (
            (self.executed, tally.reports - tally.less),
            (self.failed, tally.failed),
            (self.skipped, tally.skipped),
            (self._passes_timed, tally.reports - tally.untimed),
            (self._passed_seconds, tally.seconds),
        ):
            if len(tally.twice):
                np.add.at(total, tally.numbers, added)
            else:
                total[rows] += added
        self.last[rows] = tally.last
        self.first[tally.numbers[self.first[rows] < 0]] = tally.first

    def build(
        self,
        reports: Reports,
        attempts: Attempts,
        signed: SignatureRows,
        *,
        suite: Ints,
        signatures: tuple[str, ...],
        orders: tuple[Ints, ...],
        excluded: Mapping[str, int],
        environments: tuple[str, ...] = (),
        hosts: tuple[str, ...] = (),
        packages: frozenset[str] = frozenset(),
        masked: Masks = NO_MASKS,
    ) -> Window:
        self._settle()
        twice = np.concatenate(self._twice)
        unclear = attempts.ambiguous | np.isin(self._cells(attempts.report, attempts.number), twice)
        attempts = replace(attempts, ambiguous=unclear)
        self._count(attempts)
        executions, are_retried = self._executions(attempts)
        ambiguous = np.zeros(len(self.failing), dtype=bool)
        unknown = self._place_of[np.concatenate([attempts.number[unclear], twice % max(self.tests, 1)])]
        ambiguous[unknown[unknown >= 0]] = True
        seconds = np.divide(
            self._passed_seconds, self._passes_timed, out=np.full(self.tests, np.nan), where=self._passes_timed > 0
        )
        reasons = {**excluded, "ambiguous attempts": self._excluded}
        return Window(
            reports=replace(reports, seconds=self._report_seconds, executed=self._report_executed),
            executed=self.executed,
            failed=self.failed,
            skipped=self.skipped,
            extra=self.extra,
            first=self.first,
            last=self.last,
            seconds=seconds,
            suite=suite,
            failing=self.failing,
            executions=executions,
            retried=are_retried,
            signature=_signatures(executions, self._place_of, signed),
            ambiguous=ambiguous,
            signatures=signatures,
            orders=orders,
            excluded={reason: count for reason, count in reasons.items() if count},
            environments=environments,
            hosts=hosts,
            packages=packages,
            masked=masked,
            retry_seconds=self._retry_seconds,
        )

    def _count(self, attempts: Attempts) -> None:
        clear = ~attempts.ambiguous
        ran = clear & (attempts.verdict != Verdict.SKIP)
        np.add.at(self.executed, attempts.number[ran], 1)
        np.add.at(self.extra, attempts.number[ran & (attempts.ordinal > 0)], 1)
        np.add.at(self.failed, attempts.number[ran & (attempts.verdict != Verdict.PASS)], 1)
        np.add.at(self.skipped, attempts.number[clear & (attempts.verdict == Verdict.SKIP)], 1)
        for seconds, counted in ((self._report_seconds, clear), (self._retry_seconds, clear & (attempts.ordinal > 0))):
            np.add.at(seconds, attempts.report[counted], np.nan_to_num(attempts.duration[counted]))

    def _executions(self, attempts: Attempts) -> tuple[Executions, Flags]:
        """Reports first, attempts after them; then in order of test, report and ordinal."""
        place = self._place_of[attempts.number]
        kept = ~attempts.ambiguous & (place >= 0)
        plain = self._plain()
        if not kept.any():
            return plain, np.zeros(len(plain.test), dtype=bool)
        several = Executions(
            plain.tests,
            place[kept],
            attempts.report[kept].astype(np.int32),
            attempts.verdict[kept].astype(np.uint8),
            attempts.ordinal[kept].astype(np.int16),
            attempts.duration[kept].astype(np.float32),
        )
        return _merged(plain, several)

    def _plain(self) -> Executions:
        """The executions of tests with one attempt. Reports come by time, so each row has its place at once."""
        count = np.zeros(len(self.failing), dtype=np.int64)
        for part in self._parts:
            count[part.place] += 1
        size, following = int(count.sum()), np.cumsum(count) - count
        report, verdict = np.empty(size, dtype=np.int32), np.empty(size, dtype=np.uint8)
        duration = np.empty(size, dtype=np.float32)
        for first, last in self._alike():
            parts, self._parts[first:last] = self._parts[first:last], [NO_PART] * (last - first)  # not held twice
            place = parts[0].place
            at = following[place][:, None] + np.arange(last - first)
            report[at] = np.arange(first, last, dtype=np.int32)
            verdict[at] = np.stack([part.verdict for part in parts], axis=1)
            duration[at] = np.stack([part.duration for part in parts], axis=1)
            following[place] += last - first
        self._parts = []
        test = np.repeat(np.arange(len(count), dtype=np.int32), count)
        return Executions(len(count), test, report, verdict, np.zeros(size, dtype=np.int16), duration)

    def _alike(self) -> Iterator[tuple[int, int]]:
        """Neighbouring reports of the same tests, a few at once: what is written of a test then lies together."""
        first = 0
        for number in range(1, len(self._parts) + 1):
            is_last = number == len(self._parts) or self._parts[number].place is not self._parts[first].place
            if is_last or number - first == _AT_ONCE:
                yield first, number
                first = number


def _merged(plain: Executions, several: Executions) -> tuple[Executions, Flags]:
    """Both in order of test, report and ordinal; and which rows are of `several`."""
    order = np.lexsort((several.ordinal, several.report, several.test))
    test, report = several.test[order], several.report[order]
    starts = np.searchsorted(plain.test, np.arange(plain.tests + 1, dtype=plain.test.dtype))
    before = [
        start + int(np.searchsorted(plain.report[start:stop], when, side="right"))
        for start, stop, when in zip(starts[test].tolist(), starts[test + 1].tolist(), report, strict=True)
    ]
    is_retried = np.insert(np.zeros(len(plain.test), dtype=bool), before, True)
    columns = ("test", "report", "verdict", "ordinal", "duration")
    merged = (np.insert(getattr(plain, name), before, getattr(several, name)[order]) for name in columns)
    return Executions(plain.tests, *merged), is_retried


def _are_ascending(numbers: Ints) -> bool:
    return bool(np.all(numbers[1:] > numbers[:-1]))


def _named_twice(numbers: Ints) -> npt.NDArray[np.intp]:
    """Rows of tests that occur several times: nobody says whether their results are attempts of one execution."""
    if _are_ascending(numbers):
        return np.zeros(0, dtype=np.intp)
    _, test, times = np.unique(numbers, return_inverse=True, return_counts=True)
    return np.flatnonzero(times[test] > 1)


def _rows(numbers: Ints) -> slice | Ints:
    """Where a report's tests are. If they are contiguous they are a slice, which is far faster to read and write."""
    whole = len(numbers) and int(numbers[-1]) - int(numbers[0]) + 1 == len(numbers) and _are_ascending(numbers)
    return slice(int(numbers[0]), int(numbers[-1]) + 1) if whole else numbers


def _signatures(
    executions: Executions, place_of: npt.NDArray[np.int32], signed: SignatureRows
) -> npt.NDArray[np.int32]:
    """The signature of each failing execution, -1 for the others."""
    signature = np.full(len(executions.test), -1, dtype=np.int32)
    place = place_of[signed.number]
    known = place >= 0
    if not known.any():
        return signature
    reports, ordinals = int(signed.report.max()) + 1, int(signed.ordinal.max()) + 1

    def key(test: npt.NDArray[np.integer], report: npt.NDArray[np.integer], ordinal: npt.NDArray[np.integer]) -> Ints:
        return np.asarray((test.astype(np.int64) * reports + report) * ordinals + ordinal, dtype=np.int64)

    signed_key = key(place[known], signed.report[known], signed.ordinal[known])
    at = np.argsort(signed_key, kind="stable")
    signed_key = signed_key[at]
    rows = np.flatnonzero(executions.failing & (executions.report < reports) & (executions.ordinal < ordinals))
    wanted = key(executions.test[rows], executions.report[rows], executions.ordinal[rows])
    found = np.minimum(np.searchsorted(signed_key, wanted), len(signed_key) - 1)
    hit = signed_key[found] == wanted
    signature[rows[hit]] = signed.signature[known][at][found[hit]]
    return signature
