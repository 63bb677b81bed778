"""Orders: which tests depend on each other, and what order data would tell more?"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from django.http import HttpRequest, HttpResponseBase, QueryDict
from django.shortcuts import render

from analytics.columns import Columns
from analytics.kernel.executions import Ints
from analytics.kernel.flakiness import State
from analytics.kernel.orders import OrderKind
from analytics.kernel.parameters import DEFAULTS
from analytics.models import Analysis, TestFinding
from analytics.naming import Names, TestName, names, numbers_matching
from dashboard.web.analysed import analysed
from dashboard.web.asking import choice, words
from dashboard.web.doors import project_page
from dashboard.web.exporting import exported
from dashboard.web.paging import numbered_page
from ingest.models import Project

PAGE_SIZE = 50
KINDS = {
    OrderKind.OD: "always fails in some orders and never in others",
    OrderKind.NDOD: "fails by chance, and in some orders more often",
    OrderKind.NDOI: "fails by chance, and no difference between orders is shown",
    OrderKind.UNKNOWN: "too few failures in known orders",
}
"""Kind -> what it says of a test, the most telling kind first."""
_RANK = {kind.value: at for at, kind in enumerate(KINDS)}
_FLAKY = (State.FLAKY, State.RECOVERED)
"""Orders are looked at for tests that are flaky, or were."""


# -- the list ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Partner:
    test: TestName
    p_value: float


@dataclass(frozen=True, slots=True)
class Ordered:
    """A test, what the orders in which it ran say of it, and whom they name."""

    test: TestName
    kind: str
    p_value: float | None
    failing: int | None
    """Orders in which it failed, of `orders`."""
    orders: int
    executions: int
    explained: bool
    polluters: list[Partner]
    setters: list[Partner]
    cleaners: list[TestName]

    @property
    def meaning(self) -> str:
        return KINDS[OrderKind(self.kind)]

    @property
    def share(self) -> float | None:
        return self.failing / self.orders if self.failing is not None and self.orders else None


@dataclass(frozen=True, slots=True)
class Asked:
    kind: str
    search: str

    @classmethod
    def read(cls, query: QueryDict) -> "Asked":
        return cls(choice(query, "kind", _RANK), words(query, "q"))

    @property
    def narrowed(self) -> bool:
        return bool(self.kind or self.search)


Finding = tuple[int, dict[str, Any]]


def findings_of(
    analysis: Analysis | None, columns: Columns, kind: str = "", among: Ints | None = None
) -> list[Finding]:
    """Number and order finding of each test, those that are explained first, then by kind and p-value.

    Flaky tests are few, and the columns name them: no other finding is read."""
    if analysis is None or not len(columns):
        return []
    numbers = columns["number"][np.isin(columns["state"], _FLAKY)]
    if among is not None:
        numbers = np.intersect1d(numbers, among)
    found = TestFinding.objects.filter(analysis=analysis, number__in=numbers.tolist(), data__has_key="order")
    if kind:
        found = found.filter(data__order__kind=kind)
    return sorted(found.values_list("number", "data__order"), key=_place)


def _place(finding: Finding) -> tuple[bool, bool, int, float, int]:
    number, order = finding
    named = any(one["related"] for one in order["partners"])
    p_value = order["p_value"] if order["p_value"] is not None else 1.0
    return not order["explained"], not named, _RANK[order["kind"]], p_value, number


def _named(project: Project, found: list[Finding]) -> list[Ordered]:
    known = names(project.pk, tests=(one for number, order in found for one in (number, *_spoken_of(order))))
    return [_ordered(number, order, known) for number, order in found]


def _blamed(order: dict[str, Any]) -> list[dict[str, Any]]:
    """Partners that are significant over all candidates; the others are chance."""
    return [one for one in order["partners"] if one["related"]]


def _spoken_of(order: dict[str, Any]) -> Iterable[int]:
    return (*(one["test"] for one in _blamed(order)), *order["cleaners"])


def _ordered(number: int, order: dict[str, Any], known: Names) -> Ordered:
    def partners(role: str) -> list[Partner]:
        return [Partner(known.test(one["test"]), one["p_value"]) for one in _blamed(order) if one["role"] == role]

    share = order["failing_orders"]
    return Ordered(
        test=known.test(number),
        kind=order["kind"],
        p_value=order["p_value"],
        failing=None if share is None else round(share * order["orders"]),
        orders=order["orders"],
        executions=order["executions"],
        explained=order["explained"],
        polluters=partners("polluter"),
        setters=partners("state-setter"),
        cleaners=[known.test(one) for one in order["cleaners"]],
    )


HEADERS = (
    *("number", "name", "class", "kind", "p_value", "failing_orders", "orders", "executions", "explained"),
    *("polluters", "state_setters", "cleaners"),
)


def _file_rows(project: Project, found: list[Finding]) -> Iterator[list[Any]]:
    for one in _named(project, found):
        yield [
            *(one.test.number, one.test.name, one.test.classname, one.kind, one.p_value),
            *(one.failing, one.orders, one.executions, one.explained),
            *([partner.test.name for partner in partners] for partners in (one.polluters, one.setters)),
            [test.name for test in one.cleaners],
        ]


# -- the page ----------------------------------------------------------------------------------------------------


@project_page
def order_list(request: HttpRequest, project: Project) -> HttpResponseBase:
    now, asked = analysed(project), Asked.read(request.GET)
    among = numbers_matching(project.pk, asked.search) if asked.search else None
    found = findings_of(now.analysis, now.columns, asked.kind, among)
    file = exported(request, f"{project.slug}-orders", HEADERS, _file_rows(project, found))
    if file is not None:
        return file
    page = numbered_page(request.GET, total=len(found), size=PAGE_SIZE)
    every = found if not asked.narrowed else findings_of(now.analysis, now.columns)
    context = {
        "project": project,
        "analysed": now,
        "asked": asked,
        "kinds": [(kind.value, meaning) for kind, meaning in KINDS.items()],
        "page": page,
        "rows": _named(project, found[page.first - 1 : page.last]),
        **_known(now.analysis, every),
    }
    return render(request, "orders.html", context)


def _known(analysis: Analysis | None, every: list[Finding]) -> dict[str, Any]:
    """What the conclusions rest on, and whether more orders would help."""
    known = analysis.summary["orders"] if analysis else {"reports": 0, "orders": 0, "kinds": {}}
    reports = analysis.reports if analysis else 0
    needed = (analysis.parameters if analysis else {}).get("partner_orders", DEFAULTS.partner_orders)
    return {
        "known": known,
        "of_kind": [(kind.value, known["kinds"].get(kind.value, 0), meaning) for kind, meaning in KINDS.items()],
        "depending": sum(known["kinds"].get(kind.value, 0) for kind in (OrderKind.OD, OrderKind.NDOD)),
        "explained": sum(order["explained"] for _, order in every),
        "blaming": sum(bool(_blamed(order)) for _, order in every),
        "unknown": reports - known["reports"],
        "needed": needed,
        "little": known["orders"] < needed,
    }
