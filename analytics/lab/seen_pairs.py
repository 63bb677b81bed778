"""Which tests were neighbours in the orders that are known: what a plan of orders still has to show."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import ceil

import numpy as np
from django.db.models import Count, Max, QuerySet

from analytics.kernel.executions import Ints
from analytics.runs.report_vectors import Renames
from ingest.models import Project, Report, Test
from ingest.selectors import report_order, roster_numbers

MOST_TESTS = 5_000
"""Pairs of larger suites are not counted."""
_ORDERS = 400
"""Different orders that are looked at, the newest first."""


@dataclass(frozen=True, slots=True)
class SeenPairs:
    """Ordered pairs of neighbours that some known order showed, of all tests and of all units of the newest suite."""

    tests: int
    units: int
    pairs: int
    unit_pairs: int
    orders: int
    least_orders: int
    """No plan shows all pairs in fewer orders (Wei 2021, and an order leaves a unit at most once)."""

    @property
    def of(self) -> int:
        return self.tests * (self.tests - 1)

    @property
    def of_units(self) -> int:
        return self.units * (self.units - 1)


def seen_pairs(project: Project) -> SeenPairs | None:
    """Of the newest whole suite whose order is known; None where there is none, or it is too large."""
    known = Report.all_objects.filter(project=project, untrusted=False, partial=False, order_digest__isnull=False)
    found = known.aggregate(newest=Max("pk"), count=Count("pk"))
    return _counted(project.pk, found["newest"], found["count"]) if found["count"] else None


@lru_cache(maxsize=32)
def _counted(project_id: int, newest: int, reports: int) -> SeenPairs | None:
    """Counted again when a report with a known order arrives or goes."""
    known = Report.all_objects.filter(
        project_id=project_id, untrusted=False, partial=False, order_digest__isnull=False
    ).order_by("-placed_at", "-pk")
    largest = known.order_by("-tests", "-placed_at").values_list("roster_id", flat=True)[:1]
    renames = Renames(project_id)
    suite = np.unique(renames.now(roster_numbers(largest[0]).astype(np.int64)))
    if not 1 < len(suite) <= MOST_TESTS:
        return None
    unit = _units(project_id, suite)
    codes = [_neighbours(order, suite) for order in _orders(known, renames)]
    pairs = np.unique(np.concatenate(codes)) if codes else np.zeros(0, dtype=np.int64)
    first, second = unit[pairs // len(suite)], unit[pairs % len(suite)]
    units = int(unit.max()) + 1
    between = np.unique((first * units + second)[first != second])
    return SeenPairs(len(suite), units, len(pairs), len(between), len(codes), _least(np.bincount(unit).tolist()))


def _orders(known: "QuerySet[Report]", renames: Renames) -> list[Ints]:
    """Different orders, the newest first."""
    digests = list(dict.fromkeys(known.values_list("order_digest", flat=True)[: 10 * _ORDERS]))[:_ORDERS]
    found: dict[int, Ints] = {}
    each = known.filter(order_digest__in=digests).order_by("order_digest", "pk").distinct("order_digest")
    for report in each.select_related("roster"):
        numbers = report_order(report)
        if numbers is not None:
            found[report.order_digest] = renames.now(numbers.astype(np.int64))
    return list(found.values())


def _neighbours(order: Ints, suite: Ints) -> Ints:
    """Codes of the neighbours in an order, tests that the suite lacks left out."""
    at = np.minimum(np.searchsorted(suite, order), len(suite) - 1)
    places = at[suite[at] == order]
    return np.unique(places[:-1] * len(suite) + places[1:])


def _units(project_id: int, suite: Ints) -> Ints:
    """By place in the suite: its class, numbered."""
    tests = Test.objects.filter(project_id=project_id, number__in=suite.tolist())
    name = {number: classname or file for number, classname, file in tests.values_list("number", "classname", "file")}
    numbered: dict[str, int] = {}
    places = [numbered.setdefault(name.get(number, ""), len(numbered)) for number in suite.tolist()]
    return np.array(places, dtype=np.int64)


def _least(sizes: Sequence[int]) -> int:
    """The lower bound on the orders that show all pairs of a suite with units of these sizes."""
    total, units = sum(sizes), len(sizes)
    if units < 2:
        return total
    between = (total * total - sum(size * size for size in sizes)) // 2
    return max(ceil(2 * between / (units - 1)), max(size * (total - size) for size in sizes), max(sizes))
