"""Tests: where is mine, and how is it?"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from django.http import HttpRequest, HttpResponseBase, QueryDict
from django.shortcuts import render

from analytics.columns import Columns
from analytics.findings.columns import CATEGORIES, ORDER_KINDS
from analytics.kernel.executions import Ints
from analytics.kernel.flakiness import State
from analytics.listing import SORTABLE, Choice, Sort, chosen_rows, sorted_rows
from analytics.models import Analysis
from analytics.naming import TestName, names, numbers_by_name
from analytics.rows import TestRow, test_rows, value_rows
from dashboard import access
from dashboard.quarantine.owned import RuleOfMany, asked_numbers
from dashboard.quarantine.owning import owner_book
from dashboard.web.analysed import analysed
from dashboard.web.asking import choice, sort_asked, words
from dashboard.web.doors import project_page
from dashboard.web.exporting import Row, exported
from dashboard.web.paging import PAGE_SIZE, NumberedPage, page_asked
from dashboard.web.quarantine_held import held_of
from dashboard.web.strips import STRIP_LENGTH, strips
from ingest.models import Project

STATES = tuple(state.name.lower() for state in State)
_SORTS = ("name", "state", *SORTABLE)
_USUAL = "-low"
"""The lower end of the rate's interval: what surely fails often comes first, and 1 of 1 does not."""
_ATTENTION = ("flaky", "suspect", "broken")
_EXPORTED_AT_ONCE = 10_000
_COLUMNS = (
    *("state", "failed", "executed", "skipped", "rate", "low", "high"),
    *("longest_burst", "to_get_past", "to_expose", "to_confirm", "last_failure", "flaky_since", "causes"),
    *("order_kind", "cluster", "blocked", "cost"),
)
HEADERS = ("number", "name", "classname", "suite", "file", *_COLUMNS, "owner")


@dataclass(frozen=True, slots=True)
class Asked:
    """What the list is narrowed down to and sorted by, as the URL says it."""

    state: str
    cause: str
    order_kind: str
    search: str
    sort: str
    owner: str = ""

    @classmethod
    def read(cls, query: QueryDict) -> "Asked":
        return cls(
            choice(query, "state", STATES),
            choice(query, "cause", CATEGORIES),
            choice(query, "order_kind", ORDER_KINDS[1:]),
            words(query, "q"),
            sort_asked(query, _SORTS) or _USUAL,
            words(query, "owner"),
        )

    def __bool__(self) -> bool:
        return bool(self.state or self.cause or self.order_kind or self.search or self.owner)

    def choice(self, project: Project) -> Choice:
        return Choice(
            states=frozenset({State[self.state.upper()]} if self.state else ()),
            cause=self.cause,
            order_kind=self.order_kind,
            numbers=asked_numbers(project, self.search, self.owner),
        )


@project_page
def test_list(request: HttpRequest, project: Project) -> HttpResponseBase:
    now, asked = analysed(project), Asked.read(request.GET)
    rows = chosen_rows(now.columns, asked.choice(project))
    listed = Listed(project, now.columns, rows, Sort.read(asked.sort))
    file = exported(request, f"{project.slug}-tests", HEADERS, listed.exported())
    if file is not None:
        return file
    page = NumberedPage(min(page_asked(request.GET), listed.pages), len(rows), PAGE_SIZE)
    context = {
        "project": project,
        "analysed": now,
        "asked": asked,
        "sort": asked.sort,
        "page": page,
        **_shown(listed, page),
        "may": access.user_may(request.user, project, "quarantine"),
        "known": len(now.columns),
        "attention": _attention(now.analysis),
        "choices": {"states": STATES, "causes": CATEGORIES, "order_kinds": ORDER_KINDS[1:]},
    }
    return render(request, "tests.html", context)


def _attention(analysis: Analysis | None) -> list[tuple[str, int]]:
    """States that ask for attention, with how many tests are in each."""
    states = analysis.summary["states"] if analysis is not None else {}
    return [(name, states[name]) for name in _ATTENTION if states.get(name)]


def _shown(listed: "Listed", page: NumberedPage) -> dict[str, Any]:
    """The page's rows with the last executions of each, and the scale of their rates' bars."""
    shown = listed.part(page.first - 1, page.size)
    lately = strips(listed.project.pk, [row.number for row, _ in shown])
    return {
        "rows": [(row, name, lately.get(row.number, ())) for row, name in shown],
        "held": held_of(listed.project, [name for _, name in shown]),
        "top": max((row.rate.high for row, _ in shown if row.rate is not None), default=1.0),
        "last_label": f"Last {STRIP_LENGTH}, last failure",
    }


@dataclass(frozen=True, slots=True)
class Listed:
    """The tests that are asked for, in the order that is asked for; read by parts."""

    project: Project
    columns: Columns
    rows: Ints
    sort: Sort

    @property
    def pages(self) -> int:
        return max(-(-len(self.rows) // PAGE_SIZE), 1)

    def part(self, start: int, size: int) -> list[tuple[TestRow, TestName]]:
        return self._named(self._ordered(start, size))

    def exported(self) -> Iterator[Row]:
        ordered, rule = self._ordered(0, len(self.rows)), RuleOfMany(owner_book(self.project))
        for start in range(0, len(ordered), _EXPORTED_AT_ONCE):
            rows = ordered[start : start + _EXPORTED_AT_ONCE]
            numbers = self.columns["number"][rows].tolist()
            known = names(self.project.pk, tests=numbers)
            for number, told in zip(numbers, value_rows(self.columns, _COLUMNS, rows), strict=True):
                test = known.test(number)
                yield (number, test.name, test.classname, test.suite, test.file, *told, rule.of(test).owner)

    def _ordered(self, start: int, size: int) -> Ints:
        """Names are sorted by the database, all else by the columns."""
        if self.sort.by != "name" or not len(self.rows):
            return sorted_rows(self.columns, self.rows, self.sort)[start : start + size]
        numbers = self.columns["number"]
        sorted_ = numbers_by_name(
            self.project.pk, numbers[self.rows], descending=self.sort.descending, start=start, size=size
        )
        return np.searchsorted(numbers, sorted_)

    def _named(self, rows: Ints) -> list[tuple[TestRow, TestName]]:
        shown = test_rows(self.columns, rows)
        known = names(self.project.pk, tests=[row.number for row in shown])
        return [(row, known.test(row.number)) for row in shown]
