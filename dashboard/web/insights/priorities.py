"""Fix first: what to fix next, what it costs, and what fixing it saves."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any

import numpy as np
from django.http import HttpRequest, HttpResponseBase, QueryDict
from django.shortcuts import render
from django.urls import reverse

from analytics.columns.codec import Columns
from analytics.columns.query import Choice, chosen_rows
from analytics.columns.schema import CATEGORIES
from analytics.history.names import Names, TestName, names, numbers_matching
from analytics.kernel.executions import Flags, Ints
from analytics.kernel.flakiness import State, flaky_or_recovered
from analytics.kernel.parameters import DEFAULTS
from analytics.kernel.rates import clopper_pearson
from analytics.models import Analysis
from analytics.money import Money, Prices, machine_minutes, prices_of
from analytics.selectors import priorities_of
from dashboard import access
from dashboard.charts import savings
from dashboard.charts.figure import Chart, draw
from dashboard.quarantine.owners.index import RuleOfMany
from dashboard.quarantine.owners.store import owner_book
from dashboard.web.analysis import page_analysis
from dashboard.web.decorators import project_page
from dashboard.web.export import exported
from dashboard.web.insights.clusters import rows_by_cluster
from dashboard.web.insights.leads import priorities_lead
from dashboard.web.insights.overview import no_commits
from dashboard.web.page_context import PageContext
from dashboard.web.paging import numbered_page
from dashboard.web.quarantine.held import held_of
from dashboard.web.query import choice, sort_asked, words
from ingest.models import Project

PAGE_SIZE = 25
MEMBERS_SHOWN = 5
FIXES_DRAWN = 60
"""Fixes in the picture: past these the curve is flat, and the file has them all."""
_FIRST = 3
"""What the first sentence speaks of: about as much as a team mends in a week."""
_SORTS = (
    *("rank", "blocked", "alone", "masked", "machine_minutes", "developer_minutes", "cost", "low", "members"),
    "money",
)


# -- the list ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Item:
    """One thing to fix: a test, or a cluster whose cause is fixed once. `stored` is what the analysis said of it."""

    stored: dict[str, Any]
    numbers: list[int]
    """Its tests."""
    money: Money

    @property
    def cluster(self) -> int | None:
        number: int | None = self.stored["cluster"]
        return number

    def sorted_by(self, column: str) -> float:
        """What is not known is less than anything that is."""
        value = self.money.mid if column == "money" else self.stored[column]
        return -1.0 if value is None else float(value)


@dataclass(frozen=True, slots=True)
class ItemNumbers:
    """What the columns say of an item's tests."""

    causes: list[str]
    states: list[tuple[str, int]]
    """Each with how many tests are in it."""


def items_of(analysis: Analysis | None, columns: Columns, prices: Prices) -> list[Item]:
    """All of them, by rank: the curve needs each."""
    if analysis is None:
        return []
    members = {cluster: columns["number"][rows].tolist() for cluster, rows in rows_by_cluster(columns).items()}
    return [
        Item(item, members.get(item["cluster"], []) if item["test"] is None else [item["test"]], prices.money(item))
        for item in priorities_of(analysis)
    ]


def described(columns: Columns, item: Item) -> ItemNumbers:
    rows = list(columns.rows(item.numbers).values())
    state, count = np.unique(columns["state"][rows], return_counts=True)
    names_of = [State(code).name.lower() for code in state.tolist()]
    return ItemNumbers(_causes(columns, rows), list(zip(names_of, count.tolist(), strict=True)))


def _causes(columns: Columns, rows: list[int] | Flags) -> list[str]:
    bits = int(np.bitwise_or.reduce(columns["causes"][rows], initial=0))
    return [name for bit, name in enumerate(CATEGORIES) if bits >> bit & 1]


def _known_causes(columns: Columns) -> list[str]:
    """Those of any test that can be on the list."""
    return sorted(_causes(columns, flaky_or_recovered(columns["state"]))) if len(columns) else []


@dataclass(frozen=True, slots=True)
class PriorityQuery:
    """What the list is narrowed down to and sorted by, as the URL says it."""

    cause: str
    search: str
    sort: str

    @classmethod
    def read(cls, query: QueryDict) -> "PriorityQuery":
        return cls(choice(query, "cause", CATEGORIES), words(query, "q"), sort_asked(query, _SORTS) or "rank")

    @property
    def narrowed(self) -> bool:
        return bool(self.cause or self.search)

    def apply(self, items: list[Item], columns: Columns, project: Project) -> list[Item]:
        """An item stays where one of its tests has the cause, and one fits the search."""
        kept = items
        if self.cause and len(columns):
            rows = chosen_rows(columns, Choice(cause=self.cause))
            kept = _holding(kept, columns["number"][rows])
        if self.search:
            kept = _holding(kept, numbers_matching(project.pk, self.search))
        by = self.sort.removeprefix("-")
        return sorted(kept, key=lambda item: item.sorted_by(by), reverse=self.sort.startswith("-"))


def _holding(items: list[Item], numbers: Ints) -> list[Item]:
    """Items with one of these tests."""
    wanted = set(numbers.tolist())
    return [item for item in items if not wanted.isdisjoint(item.numbers)]


# -- what it saves -----------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Saving:
    """Blocked runs that the first so many fixes would have let pass, with the interval of their share."""

    rank: int
    runs: int
    blocked: int
    low: float
    high: float

    @property
    def share(self) -> float:
        return self.runs / self.blocked


def savings_of(items: list[Item], confidence: float) -> list[Saving]:
    """What fixing each item and all before it would save; empty if no run was blocked."""
    blocked = items[0].stored["blocked_runs"] if items else 0
    if not blocked:
        return []
    runs = np.array([item.stored["saved_runs"] for item in items])
    low, high = clopper_pearson(runs, np.full(len(runs), blocked), confidence)
    ends = zip(items, runs.tolist(), low.tolist(), high.tolist(), strict=True)
    return [Saving(item.stored["rank"], saved_runs, blocked, least, most) for item, saved_runs, least, most in ends]


def _savings_chart(project: Project, saved: list[Saving], items: list[Item], known: Names) -> Chart:
    fixes = tuple(
        savings.Fix(
            _label(item, known),
            saving.runs,
            saving.low * saving.blocked,
            saving.high * saving.blocked,
            reverse("test", args=(project.slug, item.numbers[0])) if item.numbers else "",
        )
        for saving, item in zip(saved, items, strict=False)
    )
    data = savings.Savings(fixes, saved[0].blocked if saved else 0)
    return draw(savings, data)


def _label(item: Item, known: Names) -> str:
    name = known.test(item.numbers[0]).name if item.numbers else ""
    return name if item.cluster is None else f"{len(item.numbers)} tests, {name} and others"


# -- the page ----------------------------------------------------------------------------------------------------


@project_page
def priority_list(request: HttpRequest, project: Project) -> HttpResponseBase:
    now, query = page_analysis(project), PriorityQuery.read(request.GET)
    items = items_of(now.analysis, now.columns, prices_of(project))
    chosen = query.apply(items, now.columns, project)
    file = exported(request, f"{project.slug}-fix-first", HEADERS, _file_rows(project, now.columns, chosen))
    if file is not None:
        return file
    page = numbered_page(request.GET, total=len(chosen), size=PAGE_SIZE)
    shown, drawn = chosen[page.first - 1 : page.last], items[:FIXES_DRAWN]
    known = names(project.pk, tests=_numbers([*shown, *drawn]))
    confidence = (now.analysis.parameters if now.analysis else {}).get("confidence", DEFAULTS.confidence)
    saved, totals = savings_of(drawn, confidence), _totals(items)
    context = {
        "project": project,
        "analysed": now,
        "query": query,
        "causes": _known_causes(now.columns),
        "items": len(items),
        "no_commits": no_commits(project, now.analysis),
        "page": page,
        "held": held_of(project, [known.test(number) for number in _numbers(shown)]),
        "may": access.user_may(request.user, project, "quarantine"),
        "rows": _page_rows(shown, savings_of(shown, confidence), now.columns, known),
        "totals": totals,
        "lead": priorities_lead(
            PageContext.read(request, project),
            tests=now.analysis.tests if now.analysis else None,
            items=len(items),
            first=saved[min(_FIRST, len(saved)) - 1] if saved else None,
            blocked=now.analysis.summary["blocked"] if now.analysis else None,
            machine_minutes=totals["machine_minutes"],
        ),
        "chart": _savings_chart(project, saved, drawn, known),
        "drawn": FIXES_DRAWN,
    }
    return render(request, "insights/priorities.html", context)


@dataclass(frozen=True, slots=True)
class Row:
    item: Item
    described: ItemNumbers
    tests: list[TestName]
    """The first of them."""
    saved: Saving | None


def _page_rows(shown: list[Item], saved: list[Saving], columns: Columns, known: Names) -> list[Row]:
    return [
        Row(item, described(columns, item), [known.test(number) for number in item.numbers[:MEMBERS_SHOWN]], saving)
        for item, saving in zip_longest(shown, saved)
    ]


def _numbers(items: Iterable[Item]) -> Iterator[int]:
    return (number for item in items for number in item.numbers[:MEMBERS_SHOWN])


def _totals(items: list[Item]) -> dict[str, Any]:
    summed = ("developer_minutes", "cost")
    return {
        "machine_minutes": machine_minutes(item.stored for item in items),
        "tests": sum(item.stored["members"] for item in items),
        **{name: sum(item.stored[name] for item in items) for name in summed},
        "money": sum(item.money.mid for item in items),
    }


HEADERS = (
    *("rank", "test", "cluster", "tests", "names", "causes", "states", "blocked", "alone", "would", "masked"),
    *("machine_minutes", "developer_minutes", "cost", "cost_low", "cost_high", "saved_runs", "blocked_runs", "owner"),
    *("money", "money_low", "money_high", "currency"),
)


def _file_rows(project: Project, columns: Columns, items: list[Item]) -> Iterator[list[Any]]:
    known = names(project.pk, tests=(number for item in items for number in item.numbers))
    rule = RuleOfMany(owner_book(project))
    for item in items:
        stored, numbers = item.stored, described(columns, item)
        yield [
            *(stored["rank"], stored["test"], stored["cluster"], len(item.numbers)),
            [known.test(number).name for number in item.numbers],
            numbers.causes,
            [name for name, _ in numbers.states],
            *(stored[name] for name in ("blocked", "alone", "would", "masked", "machine_minutes", "developer_minutes")),
            *(stored[name] for name in ("cost", "low", "high", "saved_runs", "blocked_runs")),
            rule.of(known.test(item.numbers[0])).owner if item.numbers else "",
            *(item.money.mid, item.money.low, item.money.high, project.currency),
        ]
