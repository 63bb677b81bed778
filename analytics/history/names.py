"""Names for numbers: the tests, reports and signatures that an analysis speaks of, each kind read by one query."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime

import numpy as np
from django.db import connection
from django.db.models import Q

from analytics.history.search import names_of
from analytics.kernel.executions import Ints
from ingest.identity import TEST_NAME_FIELDS, TestName
from ingest.models import Report, Signature, Test


@dataclass(frozen=True, slots=True)
class ReportName:
    """A report to look at: its run, and what was tested."""

    report: int
    run: int
    started_at: datetime
    """What the runner's clock said."""
    placed_at: datetime
    """When it was, by ours."""
    commit: str
    branch: str
    build_url: str


@dataclass(frozen=True, slots=True)
class Names:
    """What numbers stand for; of a report or signature that is no longer kept there is none."""

    tests: dict[int, TestName] = field(default_factory=dict)
    reports: dict[int, ReportName] = field(default_factory=dict)
    signatures: dict[int, str] = field(default_factory=dict)

    def test(self, number: int) -> TestName:
        return self.tests.get(number) or TestName(number)

    def report(self, id_: int | None) -> ReportName | None:
        return None if id_ is None else self.reports.get(id_)

    def signature(self, id_: int | None) -> str | None:
        return None if id_ is None else self.signatures.get(id_)


def names(
    project_id: int,
    *,
    tests: Iterable[int] = (),
    reports: Iterable[int | None] = (),
    signatures: Iterable[int | None] = (),
) -> Names:
    return Names(
        _tests(project_id, set(tests)),
        _reports(project_id, {report for report in reports if report is not None}),
        _signatures(project_id, {signature for signature in signatures if signature is not None}),
    )


def _tests(project_id: int, numbers: set[int]) -> dict[int, TestName]:
    if not numbers:
        return {}
    found = Test.objects.filter(project_id=project_id, number__in=numbers)
    rows = found.values_list(*TEST_NAME_FIELDS)
    return {row[0]: TestName(*row) for row in rows}


def _reports(project_id: int, ids: set[int]) -> dict[int, ReportName]:
    if not ids:
        return {}
    found = Report.objects.filter(project_id=project_id, pk__in=ids)
    fields = ("pk", "run_id", "started_at", "placed_at", "run__commit", "run__branch", "run__build_url")
    return {row[0]: ReportName(*row) for row in found.values_list(*fields)}


def _signatures(project_id: int, ids: set[int]) -> dict[int, str]:
    if not ids:
        return {}
    return dict(Signature.objects.filter(project_id=project_id, pk__in=ids).values_list("pk", "text"))


# -- tests by their names ----------------------------------------------------------------------------------------


def numbers_matching(project_id: int, text: str) -> Ints:
    """Tests whose name, class, suite or file holds the text, in any case; under their current names alone."""
    found = names_of(project_id).found(text).number
    hidden = Test.objects.filter(Q(alias_of__isnull=False) | Q(seen_in_ci=False), project_id=project_id)
    numbers = hidden.values_list("number", flat=True)
    return np.asarray(found[~np.isin(found, np.fromiter(numbers.iterator(), dtype=np.int64))])


_BY_NAME = """
    SELECT number FROM ingest_test WHERE project_id = %s AND number = ANY(%s::int[])
    ORDER BY name {direction}, number LIMIT %s OFFSET %s
"""


def numbers_by_name(project_id: int, numbers: Ints, *, descending: bool, start: int, size: int) -> list[int]:
    """A page of these tests, sorted by name."""
    query = _BY_NAME.format(direction="DESC" if descending else "ASC")
    array = "{" + ",".join(map(str, numbers.tolist())) + "}"
    with connection.cursor() as cursor:
        cursor.execute(query, [project_id, array, size, start])
        return [number for (number,) in cursor.fetchall()]
