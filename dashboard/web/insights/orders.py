"""Orders: which tests depend on each other, and what order data would tell more?"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from django.http import HttpRequest, HttpResponseBase, QueryDict
from django.shortcuts import render

from analytics.columns.codec import Columns
from analytics.columns.query import Sort
from analytics.columns.schema import ORDER_KINDS
from analytics.history.names import Names, TestName, names, numbers_by_name, numbers_matching
from analytics.kernel.executions import Ints
from analytics.kernel.flakiness import flaky_or_recovered
from analytics.kernel.orders import OrderKind
from analytics.kernel.parameters import DEFAULTS
from analytics.kernel.rates import clopper_pearson
from analytics.models import Analysis, TestFinding
from analytics.wording import p_words
from dashboard.web.analysis import page_analysis
from dashboard.web.decorators import project_page
from dashboard.web.export import exported
from dashboard.web.paging import numbered_page
from dashboard.web.query import choice, sort_asked, words
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
_SORTS = ("name", "kind", "failing_orders", "p_value")
_DEPENDING = (OrderKind.OD, OrderKind.NDOD)
"""Orders are looked at for tests that are flaky, or were."""


# -- the list ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Partner:
    test: TestName
    p_value: float

    @property
    def chance(self) -> str:
        return p_words(self.p_value)


@dataclass(frozen=True, slots=True)
class OrderRow:
    """A test, what the orders in which it ran say of it, and whom they name."""

    test: TestName
    kind: str
    p_value: float | None
    failing: int | None
    """Orders in which it failed, of `orders`, and the interval of their share."""
    orders: int
    low: float
    high: float
    executions: int
    explained: bool
    polluters: list[Partner]
    setters: list[Partner]
    cleaners: list[TestName]

    @property
    def meaning(self) -> str:
        return KINDS[OrderKind(self.kind)]

    @property
    def chance(self) -> str:
        return p_words(self.p_value)


@dataclass(frozen=True, slots=True)
class OrderQuery:
    kind: str
    search: str
    sort: str
    """Empty for the usual order: what tells most comes first."""

    @classmethod
    def read(cls, query: QueryDict) -> "OrderQuery":
        return cls(choice(query, "kind", _RANK), words(query, "q"), sort_asked(query, _SORTS))

    @property
    def narrowed(self) -> bool:
        return bool(self.kind or self.search)


Order = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Ranking:
    """Tests by what their orders say: those that are explained first, then by kind."""

    numbers: list[int]
    depending: dict[int, Order]
    """Of all tests that depend on the order, narrowed down or not: what was found."""


def ranking_of(analysis: Analysis | None, columns: Columns, kind: str = "", among: Ints | None = None) -> Ranking:
    """Reads what was found of tests that depend on the order, which are few; of the others only numbers."""
    if analysis is None or not len(columns):
        return Ranking([], {})
    depending = _read(analysis, _of_kinds(columns, *_DEPENDING).tolist())
    every = [
        *sorted(depending, key=lambda number: _place(number, depending[number])),
        *_of_kinds(columns, OrderKind.NDOI).tolist(),
        *(_untold(analysis, columns) if kind in ("", OrderKind.UNKNOWN) else ()),
    ]
    wanted = np.array(every, dtype=np.int64)
    if kind and kind != OrderKind.UNKNOWN:
        wanted = wanted[np.isin(wanted, _of_kinds(columns, OrderKind(kind)))]
    elif kind:
        wanted = wanted[~np.isin(wanted, _of_kinds(columns, *_DEPENDING, OrderKind.NDOI))]
    return Ranking((wanted if among is None else wanted[np.isin(wanted, among)]).tolist(), depending)


def _sorted(project: Project, analysis: Analysis | None, numbers: list[int], sort: Sort) -> list[int]:
    """These tests by name or by what was found of them; what has no value comes last in both directions."""
    if sort.by == "name":
        every = np.array(numbers, dtype=np.int64)
        return numbers_by_name(project.pk, every, descending=sort.descending, start=0, size=len(numbers))
    found = TestFinding.objects.filter(analysis=analysis, number__in=numbers, data__has_key="order")
    value = dict(found.values_list("number", f"data__order__{sort.by}"))
    known = [number for number in numbers if value.get(number) is not None]
    known.sort(key=lambda number: _RANK.get(value[number], value[number]), reverse=sort.descending)
    return [*known, *(number for number in numbers if value.get(number) is None)]


def _of_kinds(columns: Columns, *kinds: OrderKind) -> Ints:
    """Numbers of the tests of these kinds."""
    codes = [ORDER_KINDS.index(kind.value) for kind in kinds]
    return np.asarray(columns["number"][np.isin(columns["order_kind"], codes)])


def _untold(analysis: Analysis, columns: Columns) -> list[int]:
    """Tests that failed in a known order too seldom to be of a kind."""
    if not analysis.summary["orders"]["kinds"].get(OrderKind.UNKNOWN.value):
        return []
    candidates = columns["number"][flaky_or_recovered(columns["state"]) & (columns["order_kind"] == 0)].tolist()
    found = TestFinding.objects.filter(analysis=analysis, number__in=candidates, data__has_key="order")
    return list(found.order_by("number").values_list("number", flat=True))


def _read(analysis: Analysis | None, numbers: list[int]) -> dict[int, Order]:
    found = TestFinding.objects.filter(analysis=analysis, number__in=numbers, data__has_key="order")
    return dict(found.values_list("number", "data__order"))


def _place(number: int, order: Order) -> tuple[bool, bool, int, float, int]:
    p_value = order["p_value"] if order["p_value"] is not None else 1.0
    return not order["explained"], not _blamed(order), _RANK[order["kind"]], p_value, number


def _named(project: Project, analysis: Analysis | None, numbers: list[int]) -> list[OrderRow]:
    """The rows of these tests, in the given order."""
    found = _read(analysis, numbers)
    known = names(project.pk, tests=(test for number, order in found.items() for test in (number, *_spoken_of(order))))
    shown = [number for number in numbers if number in found]
    failing = np.array([_failing(found[number]) for number in shown], dtype=np.int64)
    orders = np.array([found[number]["orders"] for number in shown], dtype=np.int64)
    low, high = clopper_pearson(failing, orders, DEFAULTS.confidence)
    ends = zip(shown, low.tolist(), high.tolist(), strict=True)
    return [_ordered(number, found[number], known, (least, most)) for number, least, most in ends]


def _failing(order: Order) -> int:
    """Orders in which it failed: what is stored is their share."""
    return round((order["failing_orders"] or 0.0) * order["orders"])


def _blamed(order: Order) -> list[dict[str, Any]]:
    """The partners that are significant after all candidates are taken into account."""
    return [partner for partner in order["partners"] if partner["related"]]


def _spoken_of(order: Order) -> Iterable[int]:
    return (*(partner["test"] for partner in _blamed(order)), *order["cleaners"])


def _ordered(number: int, order: Order, known: Names, interval: tuple[float, float]) -> OrderRow:
    def partners(role: str) -> list[Partner]:
        return [
            Partner(known.test(partner["test"]), partner["p_value"])
            for partner in _blamed(order)
            if partner["role"] == role
        ]

    return OrderRow(
        test=known.test(number),
        kind=order["kind"],
        p_value=order["p_value"],
        failing=None if order["failing_orders"] is None else _failing(order),
        orders=order["orders"],
        low=interval[0],
        high=interval[1],
        executions=order["executions"],
        explained=order["explained"],
        polluters=partners("polluter"),
        setters=partners("state-setter"),
        cleaners=[known.test(cleaner) for cleaner in order["cleaners"]],
    )


HEADERS = (
    *("number", "name", "class", "kind", "p_value", "failing_orders", "orders", "executions", "explained"),
    *("polluters", "state_setters", "cleaners"),
)


def _file_rows(project: Project, analysis: Analysis | None, numbers: list[int]) -> Iterator[list[Any]]:
    for row in _named(project, analysis, numbers):
        yield [
            *(row.test.number, row.test.name, row.test.classname, row.kind, row.p_value),
            *(row.failing, row.orders, row.executions, row.explained),
            *([partner.test.name for partner in partners] for partners in (row.polluters, row.setters)),
            [test.name for test in row.cleaners],
        ]


# -- the page ----------------------------------------------------------------------------------------------------


@project_page
def order_list(request: HttpRequest, project: Project) -> HttpResponseBase:
    now, asked = page_analysis(project), OrderQuery.read(request.GET)
    among = numbers_matching(project.pk, asked.search) if asked.search else None
    ranking = ranking_of(now.analysis, now.columns, asked.kind, among)
    numbers = ranking.numbers
    if asked.sort and numbers:
        numbers = _sorted(project, now.analysis, numbers, Sort.read(asked.sort))
    file = exported(request, f"{project.slug}-orders", HEADERS, _file_rows(project, now.analysis, numbers))
    if file is not None:
        return file
    page = numbered_page(request.GET, total=len(numbers), size=PAGE_SIZE)
    context = {
        "project": project,
        "analysed": now,
        "asked": asked,
        "kinds": [(kind.value, meaning) for kind, meaning in KINDS.items()],
        "page": page,
        "rows": _named(project, now.analysis, numbers[page.first - 1 : page.last]),
        **_known(now.analysis, list(ranking.depending.values())),
    }
    return render(request, "insights/orders.html", context)


def _known(analysis: Analysis | None, depending: list[Order]) -> dict[str, Any]:
    """What the conclusions rest on, and whether more orders would help."""
    known = analysis.summary["orders"] if analysis else {"reports": 0, "orders": 0, "kinds": {}}
    reports = analysis.reports if analysis else 0
    needed = (analysis.parameters if analysis else {}).get("partner_orders", DEFAULTS.partner_orders)
    return {
        "known": known,
        "of_kind": [(kind.value, known["kinds"].get(kind.value, 0), meaning) for kind, meaning in KINDS.items()],
        "depending": len(depending),
        "explained": sum(order["explained"] for order in depending),
        "blaming": sum(bool(_blamed(order)) for order in depending),
        "unknown": reports - known["reports"],
        "needed": needed,
        "little": known["orders"] < needed,
    }
