"""What an analysis works on: the reports of a window as arrays, made one report at a time.

Passes are many and only counted; full sequences are kept only of tests that failed. So memory grows with tests and
failures, not with results."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from analytics.kernel.executions import Executions, Flags, Floats, Ints
from analytics.kernel.flakiness import Situation
from ingest.vectors import AMBIGUOUS, RETRIED, VERDICT_MASK
from ingest.verdict import Verdict

UNDECIDED, CONFIRMED, REJECTED = 0, 1, -1
"""What a person said of a report that we hold for an incident."""


@dataclass(frozen=True, slots=True)
class Reports:
    """One row a report, by time. -1 stands for "not said"."""

    started: Floats
    """Seconds since 1970."""
    revision: Ints
    environment: Ints
    host: Ints
    run: Ints
    default_branch: Flags
    order: Ints
    """Which of the window's orders; -1 where it is not known to be true."""
    errors: Flags
    """Something besides tests went wrong: a build, a collection, a fixture of a whole class."""
    executed: Ints
    """Tests that ran."""
    seconds: Floats
    """What its tests took, all attempts together."""
    decided: Ints
    """UNDECIDED, CONFIRMED or REJECTED as an incident."""

    def __len__(self) -> int:
        return len(self.started)

    @property
    def situation(self) -> Situation:
        return Situation(self.revision, self.environment, self.run, self.default_branch)


@dataclass(frozen=True, slots=True)
class Window:
    """The executions of a window. Tests go by their numbers; those that failed also by their place in `failing`."""

    reports: Reports
    executed: Ints
    failed: Ints
    skipped: Ints
    """By test number, every attempt counted."""
    extra: Ints
    """Of those executed, attempts after the first in their report; by test number."""
    first: Ints
    last: Ints
    """By test number: the first and the last report that speaks of it; -1 for none."""
    seconds: Floats
    """By test number: the mean of its passing executions; NaN where there is none."""
    suite: Ints
    """By test number."""
    failing: Ints
    """Numbers of the tests that failed at least once, ascending."""
    executions: Executions
    """Of the failing tests, sorted by test, report and ordinal; `test` is the place in `failing`."""
    told: Flags
    """By execution: one of several attempts in its report, and the producer says that they are."""
    signature: Ints
    """By execution: which of `signatures`; -1 where it did not fail."""
    ambiguous: Flags
    """By failing test: it has attempts of unknown relation, which are left out."""
    signatures: tuple[str, ...]
    orders: tuple[Ints, ...]
    """Test numbers in order of execution."""
    excluded: Mapping[str, int]
    """Reason -> how many executions or reports were left out."""
    environments: tuple[str, ...] = ()
    hosts: tuple[str, ...] = ()
    """What their numbers stand for, in words."""


@dataclass(frozen=True, slots=True)
class Attempts:
    """Rows for tests with several attempts in one report, in any order."""

    number: Ints
    report: Ints
    ordinal: Ints
    verdict: Ints
    duration: Floats
    ambiguous: Flags


def no_attempts() -> Attempts:
    none = np.zeros(0, dtype=np.int64)
    return Attempts(none, none, none, none, np.zeros(0), np.zeros(0, dtype=bool))


@dataclass(frozen=True, slots=True)
class Signed:
    """Rows for failing executions: which signature their failure has, in any order."""

    number: Ints
    report: Ints
    ordinal: Ints
    signature: Ints


@dataclass(slots=True)
class _Part:
    """What one report says of the tests that failed somewhere in the window."""

    place: npt.NDArray[np.int32]
    verdict: npt.NDArray[np.uint8]
    duration: npt.NDArray[np.float32]


@dataclass(slots=True)
class Assembly:
    """Takes reports one at a time, by time, and makes a window of them."""

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
    _report_executed: Ints = field(init=False)
    _place_of: npt.NDArray[np.int32] = field(init=False)
    _parts: list[_Part] = field(init=False)
    _excluded: int = 0

    def __post_init__(self) -> None:
        for name in ("executed", "failed", "skipped", "extra", "_passes_timed"):
            setattr(self, name, np.zeros(self.tests, dtype=np.int64))
        self.first, self.last = np.full(self.tests, -1, dtype=np.int64), np.full(self.tests, -1, dtype=np.int64)
        self._passed_seconds = np.zeros(self.tests)
        self._report_seconds, self._report_executed = np.zeros(self.reports), np.zeros(self.reports, dtype=np.int64)
        self._place_of = np.full(self.tests, -1, dtype=np.int32)
        self._place_of[self.failing] = np.arange(len(self.failing), dtype=np.int32)
        none = _Part(np.zeros(0, np.int32), np.zeros(0, np.uint8), np.zeros(0, np.float32))
        self._parts = [none] * self.reports

    def add(
        self,
        report: int,
        numbers: npt.NDArray[np.integer],
        vector: npt.NDArray[np.uint8],
        durations: npt.NDArray[np.float32],
    ) -> None:
        """One report: a byte (verdict and flags) and seconds (NaN unknown) for each of its tests.

        Attempts of tests that are flagged RETRIED come with `build`; those that are AMBIGUOUS are left out."""
        verdict = vector & VERDICT_MASK
        alone = (vector & (RETRIED | AMBIGUOUS)) == 0
        self._excluded += int(np.count_nonzero(vector & AMBIGUOUS))
        ran = alone & (verdict != Verdict.SKIP)
        self._report_executed[report] = np.count_nonzero((vector & AMBIGUOUS == 0) & (verdict != Verdict.SKIP))
        passed = ran & (verdict == Verdict.PASS)
        timed = passed & ~np.isnan(durations)
        add = _adder(numbers)
        add(self.executed, ran)
        add(self.failed, ran & ~passed)
        add(self.skipped, alone & ~ran)
        add(self._passed_seconds, np.where(timed, durations, 0))
        add(self._passes_timed, timed)
        rows = _rows(numbers)
        self.last[rows] = report
        new = numbers[self.first[rows] < 0]
        self.first[new] = report
        self._report_seconds[report] += float(np.nansum(durations[alone]))
        place = self._place_of[rows]
        kept = alone & (place >= 0)
        self._parts[report] = _Part(place[kept], verdict[kept], durations[kept].astype(np.float32))

    def build(
        self,
        reports: Reports,
        attempts: Attempts,
        signed: Signed,
        *,
        suite: Ints,
        signatures: tuple[str, ...],
        orders: tuple[Ints, ...],
        excluded: Mapping[str, int],
        environments: tuple[str, ...] = (),
        hosts: tuple[str, ...] = (),
    ) -> Window:
        self._count(attempts)
        executions, told = self._executions(attempts)
        ambiguous = np.zeros(len(self.failing), dtype=bool)
        unknown = self._place_of[attempts.number[attempts.ambiguous]]
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
            told=told,
            signature=_signatures(executions, self._place_of, signed),
            ambiguous=ambiguous,
            signatures=signatures,
            orders=orders,
            excluded={reason: count for reason, count in reasons.items() if count},
            environments=environments,
            hosts=hosts,
        )

    def _count(self, attempts: Attempts) -> None:
        told = ~attempts.ambiguous
        ran = told & (attempts.verdict != Verdict.SKIP)
        np.add.at(self.executed, attempts.number[ran], 1)
        np.add.at(self.extra, attempts.number[ran & (attempts.ordinal > 0)], 1)
        np.add.at(self.failed, attempts.number[ran & (attempts.verdict != Verdict.PASS)], 1)
        np.add.at(self.skipped, attempts.number[told & (attempts.verdict == Verdict.SKIP)], 1)
        np.add.at(self._report_seconds, attempts.report[told], np.nan_to_num(attempts.duration[told]))

    def _executions(self, attempts: Attempts) -> tuple[Executions, Flags]:
        """Reports first, attempts after them; then in order of test, report and ordinal."""
        place = self._place_of[attempts.number]
        kept = ~attempts.ambiguous & (place >= 0)
        lengths = [len(part.place) for part in self._parts]
        plain, retried = sum(lengths), int(np.count_nonzero(kept))
        test = np.concatenate([part.place for part in self._parts] + [place[kept]])
        report = np.concatenate(
            [np.repeat(np.arange(self.reports, dtype=np.int32), lengths), attempts.report[kept].astype(np.int32)]
        )
        verdict = np.concatenate([part.verdict for part in self._parts] + [attempts.verdict[kept].astype(np.uint8)])
        duration = np.concatenate(
            [part.duration for part in self._parts] + [attempts.duration[kept].astype(np.float32)]
        )
        self._parts = []
        ordinal = np.zeros(plain + retried, dtype=np.int16)
        ordinal[plain:] = attempts.ordinal[kept]
        told = np.zeros(plain + retried, dtype=bool)
        told[plain:] = True
        at = np.lexsort((ordinal, report, test)) if retried else np.argsort(test, kind="stable")
        executions = Executions(len(self.failing), test[at], report[at], verdict[at], ordinal[at], duration[at])
        return executions, told[at]


def _adder(numbers: npt.NDArray[np.integer]) -> Callable[[npt.NDArray[Any], npt.NDArray[Any]], None]:
    """Adds to the tests of a report; a renamed test may be in it twice, under both names."""
    if _ascending(numbers):
        rows = _rows(numbers)

        def add(total: npt.NDArray[Any], values: npt.NDArray[Any]) -> None:
            total[rows] += values

        return add
    return lambda total, values: np.add.at(total, numbers, values.astype(total.dtype))


def _rows(numbers: npt.NDArray[np.integer]) -> slice | npt.NDArray[np.integer]:
    """The places of a report's tests: a slice, which is far quicker to read and write, where none is left out."""
    whole = len(numbers) and int(numbers[-1]) - int(numbers[0]) + 1 == len(numbers) and _ascending(numbers)
    return slice(int(numbers[0]), int(numbers[-1]) + 1) if whole else numbers


def _ascending(numbers: npt.NDArray[np.integer]) -> bool:
    return bool(np.all(numbers[1:] > numbers[:-1]))


def _signatures(executions: Executions, place_of: npt.NDArray[np.int32], signed: Signed) -> Ints:
    """The signature of each failing execution, -1 for the others."""
    signature = np.full(len(executions.test), -1, dtype=np.int64)
    place = place_of[signed.number]
    known = place >= 0
    if not known.any():
        return signature
    reports, ordinals = int(signed.report.max()) + 1, int(signed.ordinal.max()) + 1

    def key(test: npt.NDArray[np.integer], report: npt.NDArray[np.integer], ordinal: npt.NDArray[np.integer]) -> Ints:
        return np.asarray((test.astype(np.int64) * reports + report) * ordinals + ordinal, dtype=np.int64)

    told = key(place[known], signed.report[known], signed.ordinal[known])
    at = np.argsort(told, kind="stable")
    told = told[at]
    rows = np.flatnonzero(executions.failing & (executions.report < reports) & (executions.ordinal < ordinals))
    wanted = key(executions.test[rows], executions.report[rows], executions.ordinal[rows])
    found = np.minimum(np.searchsorted(told, wanted), len(told) - 1)
    hit = told[found] == wanted
    signature[rows[hit]] = signed.signature[known][at][found[hit]]
    return signature
