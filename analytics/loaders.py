"""The only place where reports become arrays."""

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

import numpy as np
from django.db import connection
from django.db.models import QuerySet

from analytics.kernel.assembly import Assembly
from analytics.kernel.executions import Ints
from analytics.kernel.packages import packages_of
from analytics.kernel.suite_bounds import suite_of
from analytics.kernel.window import UNDECIDED, Attempts, Reports, SignatureRows, Window
from analytics.masks import Mask, RunFacts, masked
from analytics.runs.report_vectors import Renames
from ingest.default_branch import default_runs, is_default
from ingest.models import Project, Report, Roster, Signature
from ingest.pgcopy import copied, copied_rows
from ingest.run_kind import kind_of
from ingest.vectors import Numbers, decode_durations, decode_members, decode_order

WINDOW_DAYS = 90
WINDOW_REPORTS = 5_000
_BATCH_BYTES = 16 * 1024 * 1024
_ROSTERS_KEPT = 64
_ORDER_ROWS = 20_000_000
"""So many steps of orders are read to look for partners; beyond them an order is only told from others."""
_SECONDS = decode_durations(np.arange(65_536, dtype="<u2").tobytes()).astype(np.float32)


@dataclass(frozen=True, slots=True)
class Filter:
    """Which reports to look at; the newest report ends the window unless `until` does."""

    days: int = WINDOW_DAYS
    reports: int = WINDOW_REPORTS
    default_branch: bool | None = None
    environment: dict[str, str] = field(default_factory=dict)
    until: datetime | None = None
    with_experiments: bool = False
    """Reports of CI and of experiments whose order is known: what order dependence rests on, and nothing else."""


EVERYTHING = Filter()


@dataclass(frozen=True, slots=True)
class Loaded:
    """A window, and what its numbers stand for."""

    window: Window
    report_ids: Ints
    run_ids: Ints
    """By the window's run number."""
    revisions: Sequence[str]
    environments: Sequence[dict[str, str]]
    hosts: Sequence[str]
    suites: Sequence[str]
    branches: Sequence[tuple[str, str]]
    """Pull request and branch; both are empty for the default branch."""
    signature_ids: Sequence[int]
    since: datetime | None
    until: datetime | None


def load(
    project: Project,
    chosen: Filter = EVERYTHING,
    decided: dict[int, int] | None = None,
    masks: Iterable[Mask] = (),
) -> Loaded:
    """The executions of a project's window. `decided` tells what people said of reports (by id) as incidents, `masks`
    whose failures did not block."""
    rows, partial = _reports(project, chosen)
    names = _Names(project, rows, decided or {})
    signed, signature_ids = names.signed()
    attempts = names.attempts()
    failing = np.unique(signed.number)
    assembly = Assembly(len(names.canonical), failing, len(rows))
    for report, numbers, verdicts, durations in _vectors(names):
        assembly.add(report, numbers, verdicts, durations)
    order, orders = _orders(names)
    suite, suites, packages = _suites(names, failing)
    reports = names.reports(order)
    window = assembly.build(
        reports,
        attempts,
        signed,
        suite=suite,
        signatures=_texts(signature_ids),
        orders=orders,
        excluded={"partial reports": partial},
        environments=tuple(", ".join(environment_value.values()) for environment_value in names.environment_values()),
        hosts=tuple(names.hosts.labels),
        packages=packages,
        masked=masked(masks, reports.started, names.facts(), names.canonical),
    )
    return Loaded(
        window=window,
        report_ids=names.ids,
        run_ids=names.runs.values_array(),
        revisions=names.revisions.labels,
        environments=names.environment_values(),
        hosts=names.hosts.labels,
        suites=suites,
        branches=names.branches.labels,
        signature_ids=signature_ids,
        since=rows[0]["placed_at"] if rows else None,
        until=rows[-1]["placed_at"] if rows else None,
    )


# -- which reports -----------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Span:
    """The days of a window: it ends with the newest report, so that a history that ended long ago is analysed too."""

    since: datetime
    until: datetime


def window_of(project: Project, chosen: Filter = EVERYTHING) -> Span | None:
    """From when to when a project's reports are looked at; None where there are none."""
    newest = _filtered(project, chosen).order_by("-placed_at").values_list("placed_at", flat=True).first()
    return None if newest is None else Span(newest - timedelta(days=chosen.days), newest)


def _reports(project: Project, chosen: Filter) -> tuple[list[dict[str, Any]], int]:
    """The window's whole reports by time, and how many partial ones were left out."""
    span = window_of(project, chosen)
    if span is None:
        return [], 0
    recent = _filtered(project, chosen).filter(placed_at__gt=span.since)
    fields = (
        *("pk", "run_id", "roster_id", "placed_at", "order_digest", "order_reliable", "partial", "run_errors"),
        *("tests", "run__commit", "run__tree", "run__branch", "run__pull_request", "run__environment", "run__host"),
        *("run__untrusted", "run__kind", "run__job", "run__shard"),
    )
    found = list(recent.order_by("-placed_at", "-pk").values(*fields)[: chosen.reports])
    whole = [row for row in reversed(found) if not row["partial"]]
    return whole, len(found) - len(whole)


def _filtered(project: Project, chosen: Filter) -> "QuerySet[Report]":
    if chosen.with_experiments:
        reports = Report.all_objects.filter(project=project, untrusted=False, order_digest__isnull=False)
    else:
        reports = Report.counted.filter(project=project)
    if chosen.until is not None:
        reports = reports.filter(placed_at__lte=chosen.until)
    if chosen.default_branch is not None:
        main = default_runs(project, "run__")
        reports = reports.filter(main if chosen.default_branch else ~main)
    if chosen.environment:
        reports = reports.filter(run__environment__contains=chosen.environment)
    return reports


class _Codes:
    """Numbers for labels, in order of first appearance; the empty label is -1 where it says nothing."""

    def __init__(self, values: Sequence[Any], nothing: Any = None) -> None:
        self._number: dict[Any, int] = {}
        self.codes: Ints = np.fromiter(
            (-1 if value == nothing else self._number.setdefault(value, len(self._number)) for value in values),
            dtype=np.int64,
            count=len(values),
        )

    @property
    def labels(self) -> list[Any]:
        return list(self._number)

    def values_array(self) -> Ints:
        return np.array(self.labels, dtype=np.int64)


class _Names:
    """What the reports of a window share: numbers for revisions, environments, hosts and runs."""

    def __init__(self, project: Project, rows: list[dict[str, Any]], decided: dict[int, int]) -> None:
        self.project, self.rows, self._decided = project, rows, decided
        self.ids: Ints = np.array([row["pk"] for row in rows], dtype=np.int64)
        self.revisions = _Codes([row["run__tree"] or row["run__commit"] for row in rows], "")
        self.environments = _Codes([json.dumps(row["run__environment"], sort_keys=True) for row in rows])
        self.hosts = _Codes([row["run__host"] for row in rows], "")
        self.runs = _Codes([row["run_id"] for row in rows])
        self.branches = _Codes([self._branch(row) for row in rows])
        self.canonical = _canonical(project)
        self._sorted = np.argsort(self.ids)

    def environment_values(self) -> list[dict[str, str]]:
        return [json.loads(label) for label in self.environments.labels]

    def reports(self, order: Ints) -> Reports:
        nothing = np.zeros(len(self.rows))
        return Reports(
            started=np.array([row["placed_at"].timestamp() for row in self.rows], dtype=np.float64),
            revision=self.revisions.codes,
            environment=self.environments.codes,
            host=self.hosts.codes,
            run=self.runs.codes,
            default_branch=np.array([self._on_default_branch(row) for row in self.rows], dtype=bool),
            pull_request=np.array([bool(row["run__pull_request"]) for row in self.rows], dtype=bool),
            branch=self.branches.codes,
            order=order,
            errors=np.array([bool(row["run_errors"]) for row in self.rows], dtype=bool),
            executed=nothing.astype(np.int64),
            seconds=nothing,
            decided=np.array([self._decided.get(row["pk"], UNDECIDED) for row in self.rows], dtype=np.int64),
            kind=_Codes([_kind(row) for row in self.rows]).codes,
        )

    def _on_default_branch(self, row: dict[str, Any]) -> bool:
        return is_default(self.project, row["run__branch"], row["run__pull_request"])

    def facts(self) -> list[RunFacts]:
        """What masks ask of the run of each report."""
        names = ("run__branch", "run__pull_request", "run__environment", "run__untrusted")
        return [RunFacts(*(row[name] for name in names)) for row in self.rows]

    def _branch(self, row: dict[str, Any]) -> tuple[str, str]:
        return row["run__pull_request"], "" if self._on_default_branch(row) else row["run__branch"]

    def place(self, report_ids: Ints) -> Ints:
        """Which of the window's reports each id is; -1 for none."""
        if not len(self.ids):
            return np.full(len(report_ids), -1, dtype=np.int64)
        at = np.minimum(np.searchsorted(self.ids, report_ids, sorter=self._sorted), len(self.ids) - 1)
        place = self._sorted[at]
        return np.where(self.ids[place] == report_ids, place, -1)

    def _of_window(self) -> dict[str, Any]:
        return {"project": self.project.pk, "reports": self.ids.tolist()}

    def signed(self) -> tuple[SignatureRows, list[int]]:
        """Failing executions and their signatures, numbered from 0."""
        report, number, ordinal, signature = copied(_SIGNED, self._of_window(), "iiii") if self.rows else _none(4)
        ids, code = np.unique(signature, return_inverse=True)
        return SignatureRows(self.canonical[number], self.place(report), ordinal, code.astype(np.int64)), ids.tolist()

    def attempts(self) -> Attempts:
        columns = copied(_ATTEMPTS, self._of_window(), "iiiiif") if self.rows else (*_none(5), np.zeros(0))
        report, number, ordinal, verdict, ambiguous, duration = columns
        return Attempts(self.canonical[number], self.place(report), ordinal, verdict, duration, ambiguous.astype(bool))


def _kind(row: dict[str, Any]) -> bytes:
    """Of a run that was stored before there were kinds, it is made now."""
    if row["run__kind"] is not None:
        return bytes(row["run__kind"])
    names = ("job", "shard", "environment", "branch", "commit")
    return kind_of(**{name: row[f"run__{name}"] for name in names})


def _none(columns: int) -> tuple[Ints, ...]:
    return (np.zeros(0, dtype=np.int64),) * columns


def _canonical(project: Project) -> Ints:
    """By test number: the number that the test has now. A renamed test has the histories of both.

    How many there are is read last and anew: uploads go on while an analysis runs, and may name tests of today."""
    renames = Renames(project.pk)
    tests = Project.objects.values_list("test_count", flat=True).get(pk=project.pk)
    return renames.now(np.arange(tests, dtype=np.int64))


_SIGNED = """
    SELECT failure.report_id::bigint, test.number::bigint, failure.ordinal::bigint, failure.signature_id::bigint
    FROM ingest_failure AS failure JOIN ingest_test AS test ON test.id = failure.test_id
    WHERE failure.report_id = ANY(%(reports)s) AND failure.part = 0
"""
_ATTEMPTS = """
    SELECT attempt.report_id::bigint, test.number::bigint, attempt.ordinal::bigint, attempt.verdict::bigint,
           (attempt.provenance = 'ambiguous')::int::bigint, coalesce(attempt.duration, 'NaN')::float8
    FROM ingest_attempt AS attempt JOIN ingest_test AS test ON test.id = attempt.test_id
    WHERE attempt.report_id = ANY(%(reports)s)
"""

# -- their vectors -----------------------------------------------------------------------------------------------

_VECTORS = "SELECT id, verdicts, durations FROM ingest_report WHERE id = ANY(%(reports)s)"
Slice = tuple[int, Ints, Any, Any]


def _vectors(names: _Names) -> Iterator[Slice]:
    """Each report's tests, verdict bytes and seconds, by time; a few megabytes at once."""
    rosters = _Rosters(names.canonical)
    for first, last in _batches([row["tests"] for row in names.rows]):
        ids = names.ids[first:last].tolist()
        found = {
            key: (verdicts, durations) for key, verdicts, durations in copied_rows(_VECTORS, {"reports": ids}, "ibb")
        }
        for place, row in enumerate(names.rows[first:last], start=first):
            if row["pk"] in found:  # else it was deleted a moment ago
                verdicts, durations = found[row["pk"]]
                codes = np.frombuffer(durations, dtype="<u2")
                numbers = rosters.numbers(row["roster_id"])
                yield place, numbers, np.frombuffer(verdicts, dtype=np.uint8), _SECONDS.take(codes)


def _batches(sizes: list[int]) -> Iterator[tuple[int, int]]:
    first, held = 0, 0
    for place, size in enumerate(sizes):
        held += 3 * size
        if held >= _BATCH_BYTES:
            yield first, place + 1
            first, held = place + 1, 0
    if first < len(sizes):
        yield first, len(sizes)


class _Rosters:
    """Members of rosters, the last used ones kept."""

    def __init__(self, canonical: Ints) -> None:
        self._canonical, self._kept = canonical, dict[int, Ints]()

    def numbers(self, roster_id: int) -> Ints:
        found = self._kept.pop(roster_id, None)
        if found is None:
            form, base, members = Roster.objects.values_list("form", "base", "members").get(pk=roster_id)
            found = self._canonical[decode_members(form, base, members)]
            if len(self._kept) >= _ROSTERS_KEPT:
                del self._kept[next(iter(self._kept))]
        self._kept[roster_id] = found
        return found


# -- their orders ------------------------------------------------------------------------------------------------

_ORDERS = """
    SELECT DISTINCT ON (report.order_digest) report.order_digest, report.roster_id,
           coalesce(report."order", roster.usual_order, ''::bytea)
    FROM ingest_report AS report JOIN ingest_roster AS roster ON roster.id = report.roster_id
    WHERE report.id = ANY(%(reports)s)
    ORDER BY report.order_digest, report.id
"""


def _orders(names: _Names) -> tuple[Ints, tuple[Ints, ...]]:
    """Which order each report ran in, and the orders themselves where there are several to compare."""
    known = [row["order_digest"] if row["order_reliable"] else None for row in names.rows]
    codes = _Codes(known, None)
    orders: list[Ints] = [np.zeros(0, dtype=np.int64)] * len(codes.labels)
    if len(orders) < 2:
        return codes.codes, tuple(orders)
    rosters, place_of, steps = _Rosters(names.canonical), {digest: at for at, digest in enumerate(codes.labels)}, 0
    for first in range(0, len(names.rows), 200):
        wanted = [row["pk"] for row in names.rows[first : first + 200] if row["order_digest"] in place_of]
        for digest, roster_id, stored in copied_rows(_ORDERS, {"reports": wanted}, "iib"):
            place, numbers = place_of[digest], rosters.numbers(roster_id)
            if len(orders[place]) or steps + len(numbers) > _ORDER_ROWS:
                continue
            rows: Numbers = decode_order(stored, len(numbers))
            orders[place], steps = numbers[rows], steps + len(numbers)
    return codes.codes, tuple(orders)


# -- their words -------------------------------------------------------------------------------------------------


SUITES = """
    SELECT suite, classname, array_agg(number) FROM ingest_test
    WHERE project_id = %(project)s AND number = ANY(%(numbers)s) GROUP BY suite, classname
"""


def _suites(names: _Names, failing: Ints) -> tuple[Ints, list[str], frozenset[str]]:
    """By test number: which suite it belongs to, of the tests that failed; -1 for the others. And their packages."""
    suite, number_of = np.full(len(names.canonical), -1, dtype=np.int64), dict[str, int]()
    classes: list[str] = []
    with connection.cursor() as cursor:
        cursor.execute(SUITES, {"project": names.project.pk, "numbers": failing.tolist()})
        for name, classname, numbers in cursor.fetchall():
            suite[numbers] = number_of.setdefault(suite_of(name, classname), len(number_of))
            classes += (name, classname)
    return suite, list(number_of), packages_of(classes)


def _texts(signature_ids: list[int]) -> tuple[str, ...]:
    text_of = dict(Signature.objects.filter(pk__in=signature_ids).values_list("pk", "text"))
    return tuple(text_of.get(signature_id, "") for signature_id in signature_ids)
