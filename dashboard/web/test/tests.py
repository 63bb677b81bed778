"""Tests: where is mine, and how is it?"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from django.http import HttpRequest, HttpResponseBase, QueryDict
from django.shortcuts import render
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from analytics.columns.codec import Columns
from analytics.columns.number import Number
from analytics.columns.query import Sort, chosen_rows, sorted_rows
from analytics.columns.rows import TestRow, test_rows, value_rows
from analytics.columns.schema import EXPORTED, FILTERS, SHOWN, SORTABLE
from analytics.history.names import TestName, names, numbers_by_name
from analytics.history.strips import STRIP_LENGTH, strips
from analytics.kernel.executions import Ints
from analytics.models import Analysis
from analytics.wording import percents
from dashboard import access
from dashboard.quarantine.labels.models import SavedView
from dashboard.quarantine.labels.query import TestQuery, read_query
from dashboard.quarantine.labels.selectors import choice_of, labels_of
from dashboard.quarantine.owners.index import RuleOfMany
from dashboard.quarantine.owners.store import owner_book
from dashboard.web.analysis import page_analysis
from dashboard.web.decorators import project_page
from dashboard.web.export import Row, exported
from dashboard.web.page_context import changed_query, link
from dashboard.web.paging import PAGE_SIZE, NumberedPage, page_asked
from dashboard.web.quarantine.held import held_of
from dashboard.web.query import choice, sort_asked, words
from ingest.models import Project

_SORTS = ("name", "state", *SORTABLE)
_USUAL = "-low"
"""The lower end of the rate's interval: what surely fails often comes first, and 1 of 1 does not."""
_ATTENTION = ("flaky", "suspect", "broken")
_EXPORTED_AT_ONCE = 10_000
HEADERS = ("number", "name", "classname", "suite", "file", *EXPORTED, "owner")
_WORD_FILTERS = {parameter: number for parameter, number in FILTERS.items() if number.words}
"""What the page offers to choose from."""


@dataclass(frozen=True, slots=True)
class TestListQuery:
    """What the list is narrowed down to and sorted by, as the URL says it."""

    __test__ = False  # the name means something to pytest

    query: TestQuery
    """What is written in the search field and chosen beside it, together."""
    sort: str

    @classmethod
    def read(cls, query: QueryDict) -> "TestListQuery":
        """What is chosen beside the search field counts before what is written in it."""
        written = read_query(words(query, "q"))
        chosen = {parameter: choice(query, parameter, number.choices) for parameter, number in _WORD_FILTERS.items()}
        wanted = {**written.words, **{parameter: (word,) for parameter, word in chosen.items() if word}}
        owner = words(query, "owner") or written.owner
        return cls(replace(written, words=wanted, owner=owner), sort_asked(query, _SORTS) or _USUAL)

    def __bool__(self) -> bool:
        return bool(self.query)

    @property
    def search(self) -> str:
        """What stands in the search field: everything that has no field of its own."""
        several = {parameter: found for parameter, found in self.query.words.items() if len(found) > 1}
        return str(replace(self.query, words=several, owner=""))

    @property
    def owner(self) -> str:
        return self.query.owner

    @property
    def filters(self) -> list[tuple[str, Number, str]]:
        """Parameter, number and the word that is chosen."""
        chosen = {parameter: found[0] for parameter, found in self.query.words.items() if len(found) == 1}
        return [(parameter, number, chosen.get(parameter, "")) for parameter, number in _WORD_FILTERS.items()]


@project_page
def test_list(request: HttpRequest, project: Project) -> HttpResponseBase:
    now, query = page_analysis(project), TestListQuery.read(request.GET)
    rows = chosen_rows(now.columns, choice_of(project, query.query))
    tests = TestList(project, now.columns, rows, Sort.read(query.sort))
    file = exported(request, f"{project.slug}-tests", HEADERS, tests.exported())
    if file is not None:
        return file
    page = NumberedPage(min(page_asked(request.GET), tests.pages), len(rows), PAGE_SIZE)
    context = {
        "project": project,
        "analysed": now,
        "query": query,
        "sort": query.sort,
        "page": page,
        **_page_rows(tests, page),
        "numbers": SHOWN,
        "may": access.user_may(request.user, project, "quarantine"),
        "known": len(now.columns),
        "views": SavedView.objects.filter(project=project),
        "lead": lead(now.analysis, len(now.columns), query, len(rows), request.GET),
    }
    return render(request, "test/tests.html", context)


# -- the sentence above the list ---------------------------------------------------------------------------------


def lead(
    analysis: Analysis | None, known: int, query: TestListQuery, total: int, address: QueryDict
) -> SafeString | str:
    """How many tests fit; of all, how many ask for attention, with links that keep the rest of the address."""
    if analysis is None:
        return "No analysis yet, so nothing is concluded of any test."
    if not known:
        return "No test was in the window that the analysis looks at."
    if query:
        conditions = _enumerated(_conditions(query, total))
        return format_html("<strong>{}</strong> of {} tests {}.", f"{total:,}", f"{known:,}", conditions)
    states = analysis.summary["states"]
    links = []
    for name in _ATTENTION:
        if count := states.get(name):
            verb = "is" if count == 1 else "are"
            links.append(link(changed_query(address, state=name, page=None), f"{count:,} {verb} {name}"))
    attention = _enumerated(links) if links else "none is flaky or broken"
    return format_html("Of {} test{} in the window {}.", f"{known:,}", "" if known == 1 else "s", attention)


def _conditions(query: TestListQuery, total: int) -> list[SafeString]:
    """What holds of the tests that fit, each with its verb."""
    are, have = ("is", "has") if total == 1 else ("are", "have")
    sentences = {
        "state": f"{are} <strong>{{}}</strong>",
        "cause": "may fail by <strong>{}</strong>",
        "order_kind": f"{have} orders that say <strong>{{}}</strong>",
        "prediction": f"{have} the prediction <strong>{{}}</strong>",
    }
    conditions = [
        format_html(sentences.get(parameter, f"{have} {number.label.lower()} <strong>{{}}</strong>"), word)
        for parameter, number in _WORD_FILTERS.items()
        if (word := " or ".join(query.query.words.get(parameter, ())))
    ]
    if query.query.labels:
        labels = ", ".join(query.query.labels)
        noun = "label" if len(query.query.labels) == 1 else "labels"
        conditions.append(format_html("{} the {} <strong><bdi>{}</bdi></strong>", have, noun, labels))
    if query.query.text:
        conditions.append(format_html("{} “<bdi>{}</bdi>” in name, class, suite or file", have, query.query.text))
    if query.owner:
        conditions.append(format_html("{} owned by <bdi>{}</bdi>", are, query.owner))
    return conditions


def _enumerated(parts: list[SafeString]) -> SafeString:
    """One, two and three."""
    before = format_html_join(", ", "{}", ((part,) for part in parts[:-1]))
    return format_html("{} and {}", before, parts[-1]) if before else parts[-1]


# -- rows --------------------------------------------------------------------------------------------------------


def _page_rows(tests: "TestList", page: NumberedPage) -> dict[str, Any]:
    """The page's rows with their latest executions, and the scale of the rate bars."""
    shown = tests.part(page.first - 1, page.size)
    lately = strips(tests.project.pk, [row.number for row, _ in shown])
    return {
        "rows": [
            (row, name, lately.get(row.number, ()), other_counts(row), rate_title(row, other_counts(row)))
            for row, name in shown
        ],
        "labels": labels_of(tests.project, [row.number for row, _ in shown]),
        "held": held_of(tests.project, [name for _, name in shown]),
        "top": max((row.rate.high for row, _ in shown if row.rate is not None), default=1.0),
        "strip_label": f"Last {STRIP_LENGTH}, newest right",
    }


def other_counts(row: TestRow) -> str:
    """What the rate leaves out: retries, incidents, skips."""
    counts = []
    if row.attempts.executed > row.executed:
        counts.append(f"{row.attempts.failed:,} of {row.attempts.executed:,} attempts")
    if row.incidents:
        counts.append(f"failed in {row.incidents:,} incident{'' if row.incidents == 1 else 's'}")
    if row.skipped:
        counts.append(f"{row.skipped:,} skipped")
    return " · ".join(counts)


def rate_title(row: TestRow, counts: str) -> str:
    """What the column has no room for: the ends of the interval, and what the rate leaves out."""
    limits = "" if row.rate is None else f"{percents(row.rate.low, row.rate.high)} (95 % interval)"
    return " · ".join(part for part in (limits, counts) if part)


@dataclass(frozen=True, slots=True)
class TestList:
    """The tests that fit the query, in its order; read by parts."""

    __test__ = False  # the name means something to pytest

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
            for number, values in zip(numbers, value_rows(self.columns, EXPORTED, rows), strict=True):
                test = known.test(number)
                yield (number, test.name, test.classname, test.suite, test.file, *values, rule.of(test).owner)

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
