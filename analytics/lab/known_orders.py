"""Orders that were seen of a job's suite, by CI and by experiments, and which pairs of neighbours they showed clean."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta

import numpy as np
import numpy.typing as npt
from django.db.models import QuerySet
from flakeboard.orders.pairs import Pairs
from flakeboard.orders.suite import Case, Suite

from analytics.kernel.executions import Ints
from analytics.lab.names import node_id_of
from analytics.loaders import WINDOW_DAYS
from analytics.runs.report_vectors import Renames, report_vectors
from ingest.identity import TEST_NAME_FIELDS, TestName
from ingest.models import Project, Report, Test
from ingest.pgcopy import copied_rows
from ingest.vectors import decode_order, order_digest
from ingest.verdict import FAILING, Verdict

_LOOKED_AT = 50
"""Of so many newest reports the newest whole one is the basis."""
_WHOLE = 0.9
"""A report with this share of the tests of the largest is of the whole suite: workers and reruns have fewer."""
_MOST_ORDERS = 500
_MOST_STEPS = 4_000_000
_AT_ONCE = 50

Flags = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Basis:
    """The newest whole roster of a job."""

    report: int
    roster: int
    numbers: Ints
    """Of its tests, ascending, as they are called now; a place in it stands for the test."""


@dataclass(frozen=True, slots=True)
class KnownOrders:
    """What the orders of the window showed of a basis."""

    seen: Pairs
    newest: Sequence[int] | None
    """The newest order of just these tests, by places."""
    newest_passed: bool
    reverse_known: bool
    count: int


def basis_of(project: Project, job: str, environment: Mapping[str, str]) -> Basis | None:
    """None where no whole report of such runs is there."""
    rows = list(_reports(project, job, environment).values_list("pk", "roster_id", "tests")[:_LOOKED_AT])
    most = max((tests for _, _, tests in rows), default=0)
    found = next(((pk, roster) for pk, roster, tests in rows if tests and tests >= _WHOLE * most), None)
    if found is None:
        return None
    report, roster = found
    vectors = report_vectors([report], Renames(project.pk), durations=False).get(report)
    return None if vectors is None else Basis(report, roster, np.unique(vectors.numbers))


def _reports(project: Project, job: str, environment: Mapping[str, str]) -> "QuerySet[Report]":
    """Whole reports of CI, the newest first; a shard is not the suite."""
    reports = Report.counted.filter(project=project, partial=False, run__shard="")
    if job:
        reports = reports.filter(run__job=job)
    if environment:
        reports = reports.filter(run__environment__contains=dict(environment))
    return reports.order_by("-placed_at", "-pk")


_ORDERS = """
    SELECT DISTINCT ON (report.order_digest) report.id::bigint, report.roster_id::bigint,
           coalesce(report."order", roster.usual_order, ''::bytea), extract(epoch FROM report.placed_at)::bigint
    FROM ingest_report AS report JOIN ingest_roster AS roster ON roster.id = report.roster_id
    WHERE report.id = ANY(%(reports)s)
    ORDER BY report.order_digest, report.placed_at DESC, report.id DESC
"""


def newest_order_report(project: Project) -> int:
    """The id of the newest report whose order is known: as long as it stays, so do the known orders."""
    return _with_order(project).order_by("-pk").values_list("pk", flat=True).first() or 0


def _with_order(project: Project) -> "QuerySet[Report]":
    known = Report.all_objects.filter(project=project, untrusted=False, order_reliable=True)
    return known.filter(order_digest__isnull=False)


def known_orders(project: Project, basis: Basis) -> KnownOrders:
    """A pair is seen clean where both were neighbours in the newest run of a known order, and the second passed; where
    it failed, it is not."""
    size, count = len(basis.numbers), 0
    seen: Flags = np.zeros((size, size), dtype=bool)
    newest: Ints | None = None
    passed_wholly = False
    for numbers, verdicts in _runs_in_order(project):
        places = _places(basis.numbers, numbers)
        first, second = places[:-1], places[1:]
        both = (first >= 0) & (second >= 0) & (first != second)
        seen[first[both], second[both]] = (verdicts[1:] == Verdict.PASS)[both]
        if len(places) == size and (places >= 0).all():
            newest, passed_wholly, count = places, not np.isin(verdicts, list(FAILING)).any(), count + 1
    packed = np.packbits(seen, axis=1, bitorder="little").tobytes()
    reverse_known = newest is not None and _is_known(project, basis, newest[::-1])
    order = None if newest is None else newest.tolist()
    return KnownOrders(Pairs.from_bytes(size, packed), order, passed_wholly, reverse_known, count)


def _runs_in_order(project: Project) -> Iterator[tuple[Ints, Ints]]:
    """Numbers and verdicts of the tests as they ran, of each known order's newest run; the oldest first."""
    orders, renames, steps = _orders(project), Renames(project.pk), 0
    for first in range(0, len(orders), _AT_ONCE):
        batch = dict(orders[first : first + _AT_ONCE])
        vectors_of = report_vectors(list(batch), renames, durations=False)
        for report, stored in batch.items():
            if report in vectors_of and steps <= _MOST_STEPS:
                vectors = vectors_of[report]
                rows = decode_order(stored, len(vectors.numbers))
                steps += len(rows)
                yield vectors.numbers[rows], vectors.verdicts[rows]


def _orders(project: Project) -> list[tuple[int, bytes]]:
    """Report and order of each known order's newest run, the oldest first: what came later counts."""
    newest = _with_order(project).order_by("-placed_at").values_list("placed_at", flat=True).first()
    if newest is None:
        return []
    recent = _with_order(project).filter(placed_at__gt=newest - timedelta(days=WINDOW_DAYS))
    ids = list(
        recent.order_by("order_digest", "-placed_at", "-pk").distinct("order_digest").values_list("pk", flat=True)
    )
    rows = list(copied_rows(_ORDERS, {"reports": ids}, "iibi")) if ids else []
    rows.sort(key=lambda row: (row[3], row[0]))
    return [(report, bytes(stored)) for report, _, stored, _ in rows[-_MOST_ORDERS:]]


def _places(numbers: Ints, wanted: Ints) -> Ints:
    """The place of each test in the basis; -1 for one that it lacks."""
    at = np.minimum(np.searchsorted(numbers, wanted), len(numbers) - 1)
    return np.where(numbers[at] == wanted, at, -1)


def _is_known(project: Project, basis: Basis, places: Ints) -> bool:
    digest = order_digest(basis.numbers[places].astype(np.int32))
    return Report.all_objects.filter(project=project, untrusted=False, order_digest=digest).exists()


def suite_of(project: Project, basis: Basis) -> tuple[Suite, list[TestName]]:
    """The tests of a basis as a tree of their files and classes, and their names."""
    rows = Test.objects.filter(project=project, number__in=basis.numbers.tolist()).order_by("number")
    names = [TestName(*row) for row in rows.values_list(*TEST_NAME_FIELDS)]
    return Suite(Case(str(name.number), _units(name)) for name in names), names


def _units(name: TestName) -> tuple[str, ...]:
    """File and classes of a test of pytest; of others their class."""
    node_id = node_id_of(name)
    if node_id is not None:
        file, *classes = node_id.partition("[")[0].split("::")[:-1]
        return file, *classes
    return tuple(part for part in (name.suite, name.classname or name.file) if part)
