"""Failing tests of a run as its page lists them: names, words, what is known of each. Touches the shown rows alone."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from django.db.models import Q

from analytics.rows import TestRow, absent_row, test_rows
from analytics.selectors import test_findings
from dashboard.web.analysed import Analysed
from dashboard.web.cases import Key, ShownCase, attempts_of, shown_case
from dashboard.web.judging import JudgedRun, Place
from dashboard.web.red import NOT_ASKED, Failing, Group, remark
from dashboard.web.said import Asked
from dashboard.web.sentences import Clause, Sizes, cluster_sizes, explanation
from ingest.models import Failure, Project, Test
from ingest.selectors import CaseRow

TEXT_BUDGET = 60_000
"""Characters of failure text that come with the page; the others are fetched when they are opened."""


@dataclass(frozen=True, slots=True)
class ShownFailure:
    """One failing test on the page."""

    failing: Failing
    group: Group
    test: Test
    place: Place
    duration: float | None
    remark: str
    clauses: Sequence[Clause]
    """What is known of it; none where there is no analysis."""
    words: str
    odd: bool
    """Flaky, and with words that it never had before."""
    attempts: int
    """How often it was tried; 0 for once."""
    shown: ShownCase | None
    """Its texts, where they come with the page."""
    alike: Sequence[Test]
    """Other tests of the page with the same signature in this run."""


def shown_failures(
    project: Project, judged: JudgedRun, analysed: Analysed, asked: Asked, numbers: Sequence[int]
) -> dict[int, ShownFailure]:
    """By test number, of those that the page shows."""
    page = _Page(project, judged, analysed, asked, numbers)
    failing_of = {one.number: one for one in judged.failing}
    return {number: page.shown(failing_of[number]) for number in numbers}


class _Page:
    """What is read for all shown tests at once."""

    def __init__(
        self, project: Project, judged: JudgedRun, analysed: Analysed, asked: Asked, numbers: Sequence[int]
    ) -> None:
        self._project, self._judged, self._asked = project, judged, asked
        self._analysed = analysed.analysis is not None
        self._tests = _tests(project, [*numbers, *(judged.places[one].stored for one in numbers)])
        self._rows = _rows(analysed, numbers)
        self._findings = test_findings(analysed.analysis, numbers)
        self._sizes = cluster_sizes(analysed.columns, numbers)
        self._texts = _texts(judged, asked, numbers)
        self._alike = _alike(asked, numbers)
        self._attempts = attempts_of([self._key(one) for one in numbers if self._retried(one)])

    def _key(self, number: int) -> Key:
        return _key(self._judged, self._asked, number)

    def _retried(self, number: int) -> bool:
        place = self._judged.places[number]
        return number in self._asked.said and place.vectors.retried(place.row)

    def shown(self, failing: Failing) -> ShownFailure:
        number = failing.number
        place, said = self._judged.places[number], self._asked.said.get(number)
        attempts = self._attempts.get(self._key(number), ()) if said else ()
        seconds = place.vectors.seconds(place.row)
        case = CaseRow(self._tests[place.stored], place.verdict, seconds, bool(attempts), self._texts.get(number, []))
        group, before = self._judged.groups[number], self._asked.before.get(number, NOT_ASKED)
        return ShownFailure(
            failing=failing,
            group=group,
            test=self._tests[number],
            place=place,
            duration=seconds,
            remark=remark(failing, group, before, self._project.default_branch),
            clauses=self._clauses(failing, group),
            words=said.words if said else "",
            odd=self._asked.odd(number, group),
            attempts=len(attempts),
            shown=shown_case(case, attempts) if number in self._texts else None,
            alike=[self._tests[one] for one in self._alike.get(number, ())],
        )

    def _clauses(self, failing: Failing, group: Group) -> list[Clause]:
        if not self._analysed:
            return []
        number, main = failing.number, self._project.default_branch
        broken = failing.broken if group in (Group.BROKEN, Group.NEW) else None
        finding, sizes = self._findings.get(number, {}), self._sizes.get(number, Sizes())
        return explanation(self._rows[number], finding, sizes, broken, main)


def _tests(project: Project, numbers: Iterable[int]) -> dict[int, Test]:
    found = Test.objects.filter(project=project, number__in=set(numbers))
    return {test.number: test for test in found}


def _rows(analysed: Analysed, numbers: Sequence[int]) -> dict[int, TestRow]:
    row_of = analysed.columns.rows(numbers)
    known = dict(zip(row_of, test_rows(analysed.columns, np.array(list(row_of.values()), dtype=np.int64)), strict=True))
    return {number: known.get(number) or absent_row(number) for number in numbers}


def _key(judged: JudgedRun, asked: Asked, number: int) -> Key:
    return judged.places[number].report.pk, asked.said[number].test


def _texts(judged: JudgedRun, asked: Asked, numbers: Sequence[int]) -> dict[int, list[Failure]]:
    """Whole failures of the first tests, as long as the budget lasts."""
    budget, chosen = TEXT_BUDGET, dict[tuple[int, int], int]()
    for number in numbers:
        if number in asked.said and asked.said[number].length <= budget:
            budget -= asked.said[number].length
            chosen[_key(judged, asked, number)] = number
    found: dict[int, list[Failure]] = {number: [] for number in chosen.values()}
    some = Q(report__in={report for report, _ in chosen}, test__in={test for _, test in chosen})
    for one in Failure.objects.filter(some).order_by("ordinal", "part") if chosen else ():
        number_of = chosen.get((one.report_id, one.test_id))
        if number_of is not None:
            found[number_of].append(one)
    return found


def _alike(asked: Asked, numbers: Sequence[int]) -> dict[int, list[int]]:
    """Tests that said the same in this run, of those that are shown."""
    by_signature: dict[int, list[int]] = {}
    for number in numbers:
        if number in asked.said:
            by_signature.setdefault(asked.said[number].signature, []).append(number)
    return {
        number: [one for one in together if one != number] for together in by_signature.values() for number in together
    }
