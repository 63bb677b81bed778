"""Failing tests of a run or build by what they are, as their pages list and export them."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from django.http import QueryDict

from analytics.runs.failing_tests import Group
from analytics.runs.failure_texts import FailureTexts, texts_of
from analytics.runs.judgement import JudgedRun
from dashboard.web.analysis import PageAnalysis
from dashboard.web.paging import NumberedPage, numbered_page, offset_asked
from dashboard.web.quarantine.held import held_of
from dashboard.web.query import choice
from dashboard.web.run.failures import ShownFailure, shown_failures
from ingest.models import Project

CASES_SIZE = 100
GROUP_SIZE = 25
"""Failing tests of a group that are shown beside the other groups; alone it is paged."""
HEADERS = ("group", "test", "name", "class", "file", "verdict", "remark", "explanation", "words")


@dataclass(frozen=True, slots=True)
class ShownGroup:
    """A group of failing tests on the page."""

    group: Group
    total: int
    failures: Sequence[ShownFailure]

    @property
    def more(self) -> int:
        return self.total - len(self.failures)


def shown_groups(
    query: QueryDict, project: Project, judged: JudgedRun, now: PageAnalysis, texts: FailureTexts
) -> dict[str, Any]:
    """The first tests of every group, or a page of the group that the query asks for."""
    alone = choice(query, "group", list(Group))
    page = numbered_page(query, total=judged.counts[Group(alone)], size=CASES_SIZE) if alone else None
    numbers = {
        group: _ordered(judged, texts, group)[_span(query, page)]
        for group in Group
        if judged.counts[group] and alone in ("", group)
    }
    every = [number for group_numbers in numbers.values() for number in group_numbers]
    missing = [number for number in every if number not in texts.in_run]
    known = FailureTexts({**texts.in_run, **texts_of(judged, missing).in_run}, texts.before) if missing else texts
    shown = shown_failures(project, judged, now, known, every)
    return {
        "held": held_of(project, [failure.test.test_name for failure in shown.values()]),
        "groups": [
            ShownGroup(group, judged.counts[group], [shown[number] for number in group_numbers])
            for group, group_numbers in numbers.items()
        ],
        "group": alone,
        "group_page": page,
    }


def _span(query: QueryDict, page: NumberedPage | None) -> slice:
    if page is None:
        return slice(0, GROUP_SIZE)
    start = offset_asked(query, page.size)
    return slice(start, start + page.size)


def _ordered(judged: JudgedRun, texts: FailureTexts, group: Group) -> list[int]:
    """Flaky tests that failed in a new way come first."""
    numbers = [failing_test.number for failing_test in judged.of(group)]
    return sorted(numbers, key=lambda number: not texts.odd(number, group))


def is_serious(judged: JudgedRun) -> bool:
    """Whether something failed that nothing known explains."""
    return bool(judged.counts[Group.NEW] or judged.errors) or not judged.standing.judged


def failure_rows(
    project: Project, judged: JudgedRun, now: PageAnalysis, texts: FailureTexts
) -> Iterator[Sequence[Any]]:
    """Every failing test, by group."""
    for group in Group:
        numbers = _ordered(judged, texts, group)
        for first in range(0, len(numbers), CASES_SIZE):
            batch = numbers[first : first + CASES_SIZE]
            known = texts_of(judged, [number for number in batch if number not in texts.in_run])
            both = FailureTexts({**texts.in_run, **known.in_run}, {**texts.before, **known.before})
            for shown_failure in shown_failures(project, judged, now, both, batch).values():
                explanation = "; ".join(clause.text for clause in shown_failure.clauses)
                test, verdict = shown_failure.test, shown_failure.place.verdict.name.lower()
                yield (
                    group,
                    test.number,
                    test.name,
                    test.classname,
                    test.file,
                    verdict,
                    shown_failure.remark,
                    explanation,
                    shown_failure.words,
                )
