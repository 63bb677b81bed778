"""Orders: which tests depend on each other, and what order data would tell more?"""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from django.http import HttpRequest, HttpResponseBase, QueryDict
from django.shortcuts import render

from analytics.columns.codec import Columns
from analytics.columns.query import Sort
from analytics.columns.schema import ORDER_KINDS
from analytics.history.names import numbers_by_name, numbers_matching
from analytics.kernel.executions import Ints
from analytics.kernel.flakiness import flaky_or_recovered
from analytics.kernel.orders import OrderKind
from analytics.kernel.parameters import DEFAULTS
from analytics.lab.dependents import DependentTest
from analytics.lab.due import experiment_due
from analytics.lab.models import Dependency
from analytics.lab.seen_pairs import seen_pairs
from analytics.models import Analysis, TestFinding
from dashboard.web.analysis import page_analysis
from dashboard.web.decorators import project_page
from dashboard.web.export import exported
from dashboard.web.insights.leads import orders_lead
from dashboard.web.insights.order_rows import GROUNDS, KINDS, Laboratory, Order, blamed, named_rows, read_orders
from dashboard.web.lab.experiments import newest_experiment
from dashboard.web.page_context import PageContext
from dashboard.web.paging import numbered_page
from dashboard.web.query import choice, sort_asked, words
from ingest.models import Project

PAGE_SIZE = 50
_RANK = {kind.value: at for at, kind in enumerate(KINDS)}
ROLES = {"victim": "fails after another test", "brittle": "needs another test before it"}
_STALE = ("yes", "no")
_SORTS = ("name", "kind", "failing_orders", "p_value")
_DEPENDING = (OrderKind.OD, OrderKind.NDOD)
"""Orders are looked at for tests that are flaky, or were."""


# -- the list ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class OrderQuery:
    kind: str
    role: str
    ground: str
    stale: str
    search: str
    sort: str
    """Empty for the usual order: what tells most comes first."""

    @classmethod
    def read(cls, query: QueryDict) -> "OrderQuery":
        return cls(
            choice(query, "kind", _RANK),
            choice(query, "role", ROLES),
            choice(query, "ground", GROUNDS),
            choice(query, "stale", _STALE),
            words(query, "q"),
            sort_asked(query, _SORTS),
        )

    @property
    def narrowed(self) -> bool:
        return bool(self.kind or self.role or self.ground or self.stale or self.search)

    def admits(self, number: int, order: Order | None, lab: Laboratory) -> bool:
        """Whether a test has the role, ground and age that are asked for."""
        known = lab.dependents.get(number)
        if self.ground and lab.ground(number, order) != self.ground:
            return False
        if self.stale and (known is None or known.stale != (self.stale == "yes")):
            return False
        return not self.role or self.role in _roles(known, order)


@dataclass(frozen=True, slots=True)
class Ranking:
    """Tests by what their orders say: those that are explained first, then by kind."""

    numbers: list[int]
    depending: dict[int, Order]
    """Of all tests that depend on the order, narrowed down or not: what was found."""


def ranking_of(
    analysis: Analysis | None, columns: Columns, lab: Laboratory, query: OrderQuery, among: Ints | None = None
) -> Ranking:
    """Reads what was found of tests that depend on the order, which are few; of the others only numbers. What is shown
    comes first."""
    kinds = _kinds(analysis, columns, lab, unknown=query.kind in ("", OrderKind.UNKNOWN))
    depending = read_orders(analysis, [number for number, kind in kinds.items() if kind in _DEPENDING], lab)
    places = {number: (number not in lab.dependents, *_place(number, order)) for number, order in depending.items()}
    others = sorted((number for number in kinds if number not in places), key=lambda number: _RANK[kinds[number]])
    wanted = [
        number
        for number in (*sorted(places, key=places.__getitem__), *others)
        if query.kind in ("", kinds[number]) and query.admits(number, depending.get(number), lab)
    ]
    found = np.array(wanted, dtype=np.int64)
    return Ranking((found if among is None else found[np.isin(found, among)]).tolist(), depending)


def _kinds(analysis: Analysis | None, columns: Columns, lab: Laboratory, *, unknown: bool) -> dict[int, str]:
    """By number: the kind of each test whose orders are known."""
    found: dict[int, str] = {}
    if analysis is not None and len(columns):
        for kind in (*_DEPENDING, OrderKind.NDOI):
            found |= dict.fromkeys(_of_kinds(columns, kind).tolist(), kind.value)
        if unknown:
            found |= dict.fromkeys(_untold(analysis, columns), OrderKind.UNKNOWN.value)
    return found | {number: order["kind"] for number, order in lab.orders.findings.items()}


def _roles(known: DependentTest | None, order: Order | None) -> set[str]:
    """What a test is by its shown and stated dependencies, else by its inferred partners."""
    if known is not None:
        return {role for role in ROLES if role in known.role}
    partners = {partner["role"] for partner in blamed(order)} if order is not None else set()
    roles = {Dependency.Role.POLLUTER: "victim", Dependency.Role.SETTER: "brittle"}
    return {roles[Dependency.Role(partner)] for partner in partners}


def _sorted(project: Project, analysis: Analysis | None, numbers: list[int], sort: Sort, lab: Laboratory) -> list[int]:
    """These tests by name or by what was found of them; what has no value comes last in both directions."""
    if sort.by == "name":
        every = np.array(numbers, dtype=np.int64)
        return numbers_by_name(project.pk, every, descending=sort.descending, start=0, size=len(numbers))
    found = TestFinding.objects.filter(analysis=analysis, number__in=numbers, data__has_key="order")
    value = dict(found.values_list("number", f"data__order__{sort.by}"))
    value |= {number: order[sort.by] for number, order in lab.orders.findings.items()}
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


def _place(number: int, order: Order) -> tuple[bool, bool, int, float, int]:
    p_value = order["p_value"] if order["p_value"] is not None else 1.0
    return not order["explained"], not blamed(order), _RANK[order["kind"]], p_value, number


HEADERS = (
    *("number", "name", "class", "kind", "p_value", "failing_orders", "orders", "executions", "explained"),
    *("polluters", "state_setters", "cleaners", "ground", "minimal_order"),
)


def _file_rows(project: Project, analysis: Analysis | None, numbers: list[int], lab: Laboratory) -> Iterator[list[Any]]:
    for row in named_rows(project, analysis, numbers, lab):
        yield [
            *(row.test.number, row.test.name, row.test.classname, row.kind, row.p_value),
            *(row.failing, row.orders, row.executions, row.explained),
            *([partner.test.name for partner in partners] for partners in (row.polluters, row.setters)),
            [test.name for test in row.cleaners],
            *(row.ground, row.dependent.dependencies[0].command if row.dependent else ""),
        ]


# -- the page ----------------------------------------------------------------------------------------------------


@project_page
def order_list(request: HttpRequest, project: Project) -> HttpResponseBase:
    now, query = page_analysis(project), OrderQuery.read(request.GET)
    among = numbers_matching(project.pk, query.search) if query.search else None
    lab = Laboratory.of(project, now.analysis, now.columns)
    ranking = ranking_of(now.analysis, now.columns, lab, query, among)
    numbers = ranking.numbers
    if query.sort and numbers:
        numbers = _sorted(project, now.analysis, numbers, Sort.read(query.sort), lab)
    file = exported(request, f"{project.slug}-orders", HEADERS, _file_rows(project, now.analysis, numbers, lab))
    if file is not None:
        return file
    page = numbered_page(request.GET, total=len(numbers), size=PAGE_SIZE)
    known = _known(now.analysis, list(ranking.depending.values()), _counts(now.analysis, now.columns, lab))
    context = {
        "project": project,
        "analysed": now,
        "query": query,
        "kinds": [(kind.value, meaning) for kind, meaning in KINDS.items()],
        "grounds": [(ground.value, meaning) for ground, meaning in GROUNDS.items()],
        "roles": ROLES,
        "page": page,
        "rows": named_rows(project, now.analysis, numbers[page.first - 1 : page.last], lab),
        "pairs": seen_pairs(project),
        "newest": newest_experiment(project),
        "due": experiment_due(project),
        **known,
        "lead": orders_lead(
            PageContext.read(request, project),
            all_reports=now.analysis.reports if now.analysis else None,
            grounds=_by_ground(ranking.depending, lab),
            latent=sum(dependent.latent for dependent in lab.dependents.values()),
            **{name: known[name] for name in ("known", "depending", "blaming", "explained")},
        ),
    }
    return render(request, "insights/orders.html", context)


def _by_ground(depending: Mapping[int, Order], lab: Laboratory) -> list[tuple[int, str]]:
    """How many tests depend on the order by each ground, in words; nothing where all is inferred."""
    if not lab.dependents:
        return []
    grounds = Counter(lab.ground(number, order) or Dependency.Ground.INFERRED for number, order in depending.items())
    words = {Dependency.Ground.SHOWN: "shown by experiments", Dependency.Ground.STATED: "stated"}
    return [(grounds[ground], words.get(ground, "inferred")) for ground in GROUNDS if grounds[ground]]


def _counts(analysis: Analysis | None, columns: Columns, lab: Laboratory) -> Mapping[str, int]:
    """Tests of each kind; the analysis has counted them where no experiment adds to it."""
    if lab.orders.findings:
        return Counter(_kinds(analysis, columns, lab, unknown=True).values())
    return analysis.summary["orders"]["kinds"] if analysis else {}


def _known(analysis: Analysis | None, depending: list[Order], kinds: Mapping[str, int]) -> dict[str, Any]:
    """What the conclusions rest on, and whether more orders would help."""
    known = analysis.summary["orders"] if analysis else {"reports": 0, "orders": 0, "kinds": {}}
    reports = analysis.reports if analysis else 0
    needed = (analysis.parameters if analysis else {}).get("partner_orders", DEFAULTS.partner_orders)
    return {
        "known": known,
        "of_kind": [(kind.value, kinds.get(kind.value, 0), meaning) for kind, meaning in KINDS.items()],
        "depending": len(depending),
        "explained": sum(order["explained"] for order in depending),
        "blaming": sum(bool(blamed(order)) for order in depending),
        "unknown": reports - known["reports"],
        "needed": needed,
        "little": known["orders"] < needed,
    }
