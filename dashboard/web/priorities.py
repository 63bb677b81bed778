"""Fix first: what to fix next, what it costs, and what fixing it saves."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from django.http import HttpRequest, HttpResponseBase, QueryDict
from django.shortcuts import render

from analytics.columns import Columns
from analytics.findings.columns import CATEGORIES
from analytics.kernel.executions import Ints
from analytics.kernel.flakiness import State
from analytics.kernel.rates import clopper_pearson
from analytics.models import Analysis, PriorityFinding
from analytics.naming import Names, names, numbers_matching
from dashboard.charts import savings
from dashboard.web.analysed import analysed
from dashboard.web.asking import choice, words
from dashboard.web.clusters import rows_by_cluster
from dashboard.web.doors import project_page
from dashboard.web.exporting import exported
from dashboard.web.paging import numbered_page
from ingest.models import Project

PAGE_SIZE = 50
MEMBERS_SHOWN = 5
FIXES_DRAWN = 60
"""Fixes in the picture: past these the curve is flat, and the file has them all."""
_FIRST = 3
"""What the first sentence speaks of: about as much as a team mends in a week."""
_SORTS = ("rank", "blocked", "alone", "machine_minutes", "developer_minutes", "cost", "low", "members")


# -- the list ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Item:
    """One thing to fix: a test, or a cluster whose cause is fixed once. `stored` is what the analysis said of it."""

    stored: dict[str, Any]
    numbers: tuple[int, ...]
    """Its tests."""
    causes: tuple[str, ...]
    states: tuple[tuple[str, int], ...]
    """The states of its tests, each with how many are in it."""

    @property
    def cluster(self) -> int | None:
        number: int | None = self.stored["cluster"]
        return number


def items_of(analysis: Analysis | None, columns: Columns) -> list[Item]:
    """All of them, by rank: flaky tests are few, and the curve needs each."""
    if analysis is None:
        return []
    members = rows_by_cluster(columns, "cluster")
    found = PriorityFinding.objects.filter(analysis=analysis).order_by("rank").values_list("rank", "data")
    return [_item(columns, {"rank": rank, **data}, _rows(columns, data, members)) for rank, data in found]


def _rows(columns: Columns, data: dict[str, Any], members: dict[int, list[int]]) -> list[int]:
    if data["test"] is None:
        return members.get(data["cluster"], [])
    row = columns.row(data["test"])
    return [] if row is None else [row]


def _item(columns: Columns, stored: dict[str, Any], rows: list[int]) -> Item:
    bits = int(np.bitwise_or.reduce(columns["causes"][rows])) if rows else 0
    state, count = np.unique(columns["state"][rows], return_counts=True)
    return Item(
        stored,
        numbers=tuple(columns["number"][rows].tolist()),
        causes=tuple(name for bit, name in enumerate(CATEGORIES) if bits >> bit & 1),
        states=tuple((State(one).name.lower(), many) for one, many in zip(state.tolist(), count.tolist(), strict=True)),
    )


@dataclass(frozen=True, slots=True)
class Asked:
    """What the list is narrowed down to and sorted by, as the URL says it."""

    cause: str
    search: str
    sort: str

    @classmethod
    def read(cls, query: QueryDict) -> "Asked":
        sorts = {sign + name for name in _SORTS for sign in ("", "-")}
        return cls(choice(query, "cause", CATEGORIES), words(query, "q"), choice(query, "sort", sorts) or "rank")

    @property
    def narrowed(self) -> bool:
        return bool(self.cause or self.search)

    def apply(self, items: list[Item], matching: Ints | None) -> list[Item]:
        found = set() if matching is None else set(matching.tolist())
        kept = [
            item
            for item in items
            if (not self.cause or self.cause in item.causes)
            and (matching is None or not found.isdisjoint(item.numbers))
        ]
        by = self.sort.removeprefix("-")
        return sorted(kept, key=lambda item: item.stored[by], reverse=self.sort.startswith("-"))


# -- what it saves -----------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Saved:
    """Blocked runs that the first so many fixes would have let pass, with the interval of their share."""

    items: int
    runs: int
    blocked: int
    low: float
    high: float

    @property
    def share(self) -> float:
        return self.runs / self.blocked


def savings_of(items: list[Item], blocked: int, confidence: float) -> list[Saved]:
    """For each item, what it saves with all before it; nothing where no run was blocked."""
    if not blocked or not items:
        return []
    runs = np.array([round(item.stored["saved"] * blocked) for item in items])
    low, high = clopper_pearson(runs, np.full(len(runs), blocked), confidence)
    ends = zip(runs.tolist(), low.tolist(), high.tolist(), strict=True)
    return [Saved(k, one, blocked, least, most) for k, (one, least, most) in enumerate(ends, start=1)]


def _drawn(saved: list[Saved], items: list[Item], known: Names) -> dict[str, Any]:
    fixes = tuple(
        savings.Fix(_label(item, known), one.runs, one.low * one.blocked, one.high * one.blocked)
        for one, item in zip(saved[:FIXES_DRAWN], items, strict=False)
    )
    data = savings.Savings(fixes, saved[0].blocked if saved else 0)
    return {"figure": savings.chart(data), "table": savings.table(data)}


def _label(item: Item, known: Names) -> str:
    name = known.test(item.numbers[0]).name if item.numbers else ""
    return name if item.cluster is None else f"{len(item.numbers)} tests, {name} and others"


# -- the page ----------------------------------------------------------------------------------------------------


@project_page
def priority_list(request: HttpRequest, project: Project) -> HttpResponseBase:
    now, asked = analysed(project), Asked.read(request.GET)
    items = items_of(now.analysis, now.columns)
    chosen = asked.apply(items, numbers_matching(project.pk, asked.search) if asked.search else None)
    file = exported(request, f"{project.slug}-fix-first", HEADERS, _file_rows(project, chosen))
    if file is not None:
        return file
    page = numbered_page(request.GET, total=len(chosen), size=PAGE_SIZE)
    shown = chosen[page.first - 1 : page.last]
    known = names(project.pk, tests=_numbers([*shown, *items[:FIXES_DRAWN]]))
    blocked = now.analysis.summary["blocked"] if now.analysis else 0
    saved = savings_of(items, blocked, now.analysis.parameters["confidence"]) if now.analysis else []
    context = {
        "project": project,
        "analysed": now,
        "asked": asked,
        "causes": sorted({cause for item in items for cause in item.causes}),
        "items": items,
        "page": page,
        "rows": [(item, [known.test(number) for number in item.numbers[:MEMBERS_SHOWN]]) for item in shown],
        "totals": _totals(items),
        "blocked": blocked,
        "first": saved[min(_FIRST, len(saved)) - 1] if saved else None,
        "saved": {item.stored["rank"]: one for item, one in zip(items, saved, strict=False)},
        "chart": _drawn(saved, items, known),
        "drawn": FIXES_DRAWN,
    }
    return render(request, "priorities.html", context)


def _numbers(items: Iterable[Item]) -> Iterator[int]:
    return (number for item in items for number in item.numbers[:MEMBERS_SHOWN])


def _totals(items: list[Item]) -> dict[str, Any]:
    summed = ("machine_minutes", "developer_minutes", "cost")
    return {
        "tests": sum(item.stored["members"] for item in items),
        **{name: sum(item.stored[name] for item in items) for name in summed},
    }


HEADERS = (
    *("rank", "test", "cluster", "tests", "names", "causes", "states", "blocked", "alone"),
    *("machine_minutes", "developer_minutes", "cost", "cost_low", "cost_high", "saved"),
)


def _file_rows(project: Project, items: list[Item]) -> Iterator[list[Any]]:
    known = names(project.pk, tests=(number for item in items for number in item.numbers))
    for item in items:
        stored = item.stored
        yield [
            *(stored["rank"], stored["test"], stored["cluster"], len(item.numbers)),
            [known.test(number).name for number in item.numbers],
            list(item.causes),
            [name for name, _ in item.states],
            *(stored[name] for name in ("blocked", "alone", "machine_minutes", "developer_minutes")),
            *(stored[name] for name in ("cost", "low", "high", "saved")),
        ]
