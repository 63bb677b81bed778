"""Queries: a test's history, a report's cases, and lists for pages and API."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import overload

import numpy as np
import numpy.typing as npt
from django.db import connection
from django.db.models import Q

from ingest.junit.upload import DIGEST_BYTES
from ingest.models import REPORT_COUNTS, Failure, Report, Roster, Run, Test, Upload
from ingest.vectors import (
    LIST,
    RETRIED,
    Numbers,
    decode_durations,
    decode_members,
    decode_order,
    verdict_of,
    verdicts_of,
)
from ingest.verdict import Verdict


def roster_numbers(roster_id: int) -> Numbers:
    form, base, members = Roster.objects.values_list("form", "base", "members").get(pk=roster_id)
    return decode_members(form, base, members)


# -- one test over time ------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Execution:
    """A test's result in one report."""

    report_id: int
    run_id: int
    placed_at: datetime
    verdict: Verdict
    duration: float | None
    retried: bool


_MEMBERSHIP = """
    SELECT id, base, get_byte(substring(members FROM (%(number)s - base) / 8 + 1 FOR 1), 0)
    FROM ingest_roster
    WHERE project_id = %(project)s AND form = 1 AND base <= %(number)s AND last >= %(number)s
      AND get_byte(substring(members FROM (%(number)s - base) / 8 + 1 FOR 1), 0) >> ((%(number)s - base) %% 8) & 1 = 1
"""
_RANK = """
    SELECT id, bit_count(substring(members FROM 1 FOR (%(number)s - base) / 8))
    FROM ingest_roster WHERE id = ANY(%(rosters)s)
"""
_LISTED = """
    SELECT id, members FROM ingest_roster
    WHERE project_id = %(project)s AND form = 0 AND base <= %(number)s AND last >= %(number)s
"""
_EXECUTIONS = f"""
    SELECT string_agg(int8send(id), ''), string_agg(int8send(run_id), ''), string_agg(timestamptz_send(placed_at), ''),
           string_agg(substring(verdicts FROM position + 1 FOR 1), ''),
           string_agg(substring(durations FROM 2 * position + 1 FOR 2), '')
    FROM (
        SELECT report.id, report.run_id, report.placed_at, report.verdicts, report.durations, place.position
        FROM unnest(%(rosters)s::bigint[], %(positions)s::int[]) AS place(roster_id, position)
        JOIN ingest_report AS report ON report.roster_id = place.roster_id AND {REPORT_COUNTS}
        ORDER BY report.placed_at DESC, report.id DESC
        LIMIT %(limit)s
    ) AS newest
"""  # noqa: S608 - our own words
"""Columns, since transferring thousands of rows takes longer than finding them."""
_MILLENNIUM = 946_684_800
"""PostgreSQL sends times as microseconds since 2000."""


@dataclass(frozen=True, slots=True, eq=False)
class TestHistory(Sequence[Execution]):
    """A test's results, newest first, in columns; an `Execution` is created on access."""

    __test__ = False  # keeps pytest from collecting it

    rosters: Sequence[int]
    """Rosters that contain the test."""
    report_id: npt.NDArray[np.int64]
    run_id: npt.NDArray[np.int64]
    placed: npt.NDArray[np.int64]
    """Microseconds since 1970, by our clock."""
    flags: npt.NDArray[np.uint8]
    """Verdict and flags, as in a report's vector."""
    seconds: npt.NDArray[np.float64]
    """NaN if unknown."""

    def __len__(self) -> int:
        return len(self.report_id)

    @overload
    def __getitem__(self, row: int) -> Execution: ...
    @overload
    def __getitem__(self, row: slice) -> list[Execution]: ...
    def __getitem__(self, row: int | slice) -> Execution | list[Execution]:
        if isinstance(row, slice):
            return [self[index] for index in range(*row.indices(len(self)))]
        flags, seconds = int(self.flags[row]), float(self.seconds[row])
        return Execution(
            report_id=int(self.report_id[row]),
            run_id=int(self.run_id[row]),
            placed_at=_EPOCH + timedelta(microseconds=int(self.placed[row])),
            verdict=verdict_of(flags),
            duration=None if np.isnan(seconds) else seconds,
            retried=bool(flags & RETRIED),
        )

    @property
    def verdicts(self) -> npt.NDArray[np.uint8]:
        return verdicts_of(self.flags)

    @property
    def retried(self) -> npt.NDArray[np.bool_]:
        return np.asarray(self.flags & RETRIED != 0)

    def where(self, kept: npt.NDArray[np.bool_]) -> "TestHistory":
        columns = (self.report_id, self.run_id, self.placed, self.flags, self.seconds)
        return TestHistory(self.rosters, *(column[kept] for column in columns))


_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def test_history(test: Test, *, limit: int = 5_000) -> TestHistory:
    """A test's results under all its names, newest first. Reads one byte of each report, not the whole report."""
    current = test.alias_of or test
    numbers = [current.number, *current.aliases.values_list("number", flat=True)]
    places = [place for number in numbers for place in _places(test.project_id, number)]
    rosters, positions = [roster for roster, _ in places], [position for _, position in places]
    with connection.cursor() as cursor:
        cursor.execute(_EXECUTIONS, {"rosters": rosters, "positions": positions, "limit": limit})
        sent = [bytes(column or b"") for column in cursor.fetchone()]
    report_id, run_id, placed = (np.frombuffer(column, dtype=">i8").astype(np.int64) for column in sent[:3])
    newest = np.lexsort((-report_id, -placed))
    columns = (report_id, run_id, placed + _MILLENNIUM * 1_000_000, np.frombuffer(sent[3], dtype=np.uint8))
    return TestHistory(rosters, *(column[newest] for column in columns), decode_durations(sent[4])[newest])


def _places(project_id: int, number: int) -> list[tuple[int, int]]:
    """The rosters that contain a test, and its row in each."""
    values = {"project": project_id, "number": number}
    with connection.cursor() as cursor:
        cursor.execute(_MEMBERSHIP, values)
        byte_of = {roster: (byte, (number - base) % 8) for roster, base, byte in cursor.fetchall()}
        cursor.execute(_RANK, {"rosters": list(byte_of), "number": number})
        places = []
        for roster, before in cursor.fetchall():
            byte, bit = byte_of[roster]
            places.append((roster, before + (byte & ((1 << bit) - 1)).bit_count()))
        cursor.execute(_LISTED, values)
        for roster, members in cursor.fetchall():
            numbers = decode_members(LIST, 0, members)
            row = int(np.searchsorted(numbers, number))
            if row < len(numbers) and numbers[row] == number:
                places.append((roster, row))
    return places


def run_files(project_id: int, run_key: bytes, *, besides: int) -> frozenset[bytes]:
    """Digests of a run's files from uploads other than `besides`."""
    stored = Report.all_objects.filter(run__project_id=project_id, run__key=run_key).exclude(upload_id=besides)
    joined = b"".join(bytes(digests) for digests in stored.values_list("file_digests", flat=True))
    return frozenset(joined[at : at + DIGEST_BYTES] for at in range(0, len(joined), DIGEST_BYTES))


# -- one report --------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class CaseRow:
    """A test of a report, for a page."""

    test: Test
    verdict: Verdict
    duration: float | None
    retried: bool
    failures: Sequence[Failure]


@dataclass(frozen=True, slots=True)
class CasePage:
    rows: Sequence[CaseRow]
    total: int


def report_cases(
    report: Report, *, verdict: Verdict | None = None, search: str = "", offset: int = 0, limit: int = 100
) -> CasePage:
    """A page of a report's tests: failing first, then in the roster's order."""
    vector = np.frombuffer(bytes(report.verdicts), dtype=np.uint8)
    verdicts = verdicts_of(vector)
    numbers = roster_numbers(report.roster_id)
    rank = np.array([1, 0, 0, 2])[verdicts]
    rows = np.lexsort((np.arange(len(numbers)), rank))
    if verdict is not None:
        rows = rows[verdicts[rows] == verdict]
    if search:
        named = Q(name__icontains=search) | Q(classname__icontains=search)
        found = Test.objects.filter(named, project_id=report.project_id)
        matching = np.fromiter(found.values_list("number", flat=True).iterator(), dtype=np.int32)
        rows = rows[np.isin(numbers[rows], matching)]
    chosen = rows[offset : offset + limit]
    tests = Test.objects.filter(project_id=report.project_id, number__in=[int(number) for number in numbers[chosen]])
    test_of = {test.number: test for test in tests}
    failures_of: dict[int, list[Failure]] = {}
    for failure in Failure.objects.filter(report=report, test__in=test_of.values()).order_by("ordinal", "part"):
        failures_of.setdefault(failure.test_id, []).append(failure)
    durations = decode_durations(bytes(report.durations))
    shown = []
    for row in chosen:
        test, seconds = test_of[int(numbers[row])], float(durations[row])
        known = None if np.isnan(seconds) else seconds
        byte = int(vector[row])
        shown.append(CaseRow(test, verdict_of(byte), known, bool(byte & RETRIED), failures_of.get(test.pk, [])))
    return CasePage(shown, len(rows))


def report_order(report: Report) -> Numbers | None:
    """Test numbers in order of execution, if known."""
    if report.order_digest is None:
        return None
    stored = report.order if report.order is not None else report.roster.usual_order
    numbers = roster_numbers(report.roster_id)
    return numbers[decode_order(bytes(stored or b""), len(numbers))]


# -- lists -------------------------------------------------------------------------------------------------------


def uploads_of(project_id: int):
    """What CI sent, newest first. Uploads of experiments are listed with their experiment."""
    return every_upload_of(project_id).filter(experiment=None)


def every_upload_of(project_id: int):
    """The same with those of experiments, to look one up."""
    return Upload.objects.filter(project_id=project_id).select_related("run").order_by("-id")


def runs_of(project_id: int):
    return Run.objects.filter(project_id=project_id).order_by("-placed_at", "-id")
