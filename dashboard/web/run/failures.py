"""Failing tests of a run as its page lists them: names, words, what is known of each. Touches the shown rows alone."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from django.db.models import Q

from analytics.columns.rows import TestRow, absent_row, test_rows
from analytics.reach.sentences import touch_sentences
from analytics.runs.elsewhere import whose_sentences
from analytics.runs.failing_tests import NOT_ASKED, FailureFacts, Group, remark
from analytics.runs.failure_texts import FailureTexts
from analytics.runs.judgement import FailedCase, JudgedRun
from analytics.selectors import test_findings
from dashboard.web.analysis import PageAnalysis
from dashboard.web.run.cases import Key, ShownCase, attempts_of, shown_case
from dashboard.web.run.explanations import Clause, Sizes, cluster_sizes, explanation
from ingest.models import Failure, Project, Test, Trace
from ingest.selectors import CaseRow

TEXT_BUDGET = 60_000
"""Characters of failure text that come with the page; the others are fetched when they are opened."""


@dataclass(frozen=True, slots=True)
class ShownFailure:
    """One failing test on the page."""

    failing: FailureFacts
    group: Group
    test: Test
    place: FailedCase
    duration: float | None
    remark: str
    excused_by: int | None
    """Id of the quarantine that excuses it."""
    whose: str
    """Where else it failed, and so whose fault it looks like; empty where it is known."""
    clauses: Sequence[Clause]
    """What is known of it; none where there is no analysis."""
    words: str
    odd: bool
    """Flaky, and with words that it never had before."""
    attempts: int
    """How often it was tried; 0 for once."""
    shown: ShownCase | None
    """Its texts, where they come with the page."""
    is_traced: bool
    """What it did in this run was recorded."""
    touch: str
    """Whether it touches the change, of a failure that nothing explains; empty where that is not known."""
    alike: Sequence[Test]
    """Other tests of the page with the same signature in this run."""


def shown_failures(
    project: Project, judged: JudgedRun, now: PageAnalysis, texts: FailureTexts, numbers: Sequence[int]
) -> dict[int, ShownFailure]:
    """By test number, of those that the page shows."""
    page = _Page(project, judged, now, texts, numbers)
    failing_of = {failing_test.number: failing_test for failing_test in judged.failing}
    return {number: page.shown(failing_of[number]) for number in numbers}


class _Page:
    """What is read for all shown tests at once."""

    def __init__(
        self, project: Project, judged: JudgedRun, now: PageAnalysis, texts: FailureTexts, numbers: Sequence[int]
    ) -> None:
        self._project, self._judged, self._texts = project, judged, texts
        self._analysed = now.analysis is not None
        self._tests = _tests(project, [*numbers, *(judged.places[number].stored for number in numbers)])
        self._rows = _rows(now, numbers)
        self._findings = test_findings(now.analysis, numbers)
        self._sizes = cluster_sizes(now.columns, numbers)
        self._whole_texts = _texts(judged, texts, numbers)
        self._alike = _alike(texts, numbers)
        traces = Trace.objects.filter(run__in=judged.run_ids, test__number__in=numbers, outcome=Trace.Outcome.FAILED)
        self._traced = set(traces.values_list("test__number", flat=True))
        broken = {
            failing_test.number: failing_test.broken for failing_test in judged.failing if failing_test.broken_before
        }
        unknown = [number for number in numbers if judged.groups[number] in (Group.NEW, Group.BROKEN, Group.UNJUDGED)]
        self._whose = whose_sentences(project, judged, unknown, broken)
        unexplained = [number for number in unknown if judged.groups[number] is not Group.BROKEN]
        self._touched = touch_sentences(project, judged.run, unexplained)
        self._attempts = attempts_of([self._key(number) for number in numbers if self._retried(number)])

    def _key(self, number: int) -> Key:
        return _key(self._judged, self._texts, number)

    def _retried(self, number: int) -> bool:
        place = self._judged.places[number]
        return number in self._texts.in_run and place.vectors.retried(place.row)

    def shown(self, failing: FailureFacts) -> ShownFailure:
        number = failing.number
        place, text = self._judged.places[number], self._texts.in_run.get(number)
        attempts = self._attempts.get(self._key(number), ()) if text else ()
        seconds = place.vectors.seconds(place.row)
        case = CaseRow(
            self._tests[place.stored], place.verdict, seconds, bool(attempts), self._whole_texts.get(number, [])
        )
        group, before = self._judged.groups[number], self._texts.before.get(number, NOT_ASKED)
        excuse = self._judged.excuses.get(number)
        return ShownFailure(
            failing=failing,
            group=group,
            test=self._tests[number],
            place=place,
            duration=seconds,
            remark=remark(failing, group, before, self._project.default_branch, excuse),
            excused_by=excuse.quarantine if excuse is not None and group is Group.QUARANTINED else None,
            whose=self._whose.get(number, ""),
            clauses=self._clauses(failing, group),
            words=text.words if text else "",
            odd=self._texts.odd(number, group),
            attempts=len(attempts),
            shown=shown_case(case, attempts) if number in self._whole_texts else None,
            is_traced=number in self._traced,
            touch=self._touched.get(number, ""),
            alike=[self._tests[twin] for twin in self._alike.get(number, ())],
        )

    def _clauses(self, failing: FailureFacts, group: Group) -> list[Clause]:
        if not self._analysed:
            return []
        number, main = failing.number, self._project.default_branch
        earlier = failing.broken is not None and failing.broken.run not in self._judged.run_ids
        broken = failing.broken if earlier and group in (Group.BROKEN, Group.NEW) else None
        finding, sizes = self._findings.get(number, {}), self._sizes.get(number, Sizes())
        return explanation(self._rows[number], finding, sizes, broken, main)


def _tests(project: Project, numbers: Iterable[int]) -> dict[int, Test]:
    found = Test.objects.filter(project=project, number__in=set(numbers))
    return {test.number: test for test in found}


def _rows(now: PageAnalysis, numbers: Sequence[int]) -> dict[int, TestRow]:
    row_of = now.columns.rows(numbers)
    known = dict(zip(row_of, test_rows(now.columns, np.array(list(row_of.values()), dtype=np.int64)), strict=True))
    return {number: known.get(number) or absent_row(number) for number in numbers}


def _key(judged: JudgedRun, texts: FailureTexts, number: int) -> Key:
    return judged.places[number].report.pk, texts.in_run[number].test


def _texts(judged: JudgedRun, texts: FailureTexts, numbers: Sequence[int]) -> dict[int, list[Failure]]:
    """The full failures of the tests that fit in the text budget."""
    budget, chosen = TEXT_BUDGET, dict[tuple[int, int], int]()
    for number in numbers:
        if number in texts.in_run and texts.in_run[number].length <= budget:
            budget -= texts.in_run[number].length
            chosen[_key(judged, texts, number)] = number
    found: dict[int, list[Failure]] = {number: [] for number in chosen.values()}
    q = Q(report__in={report for report, _ in chosen}, test__in={test for _, test in chosen})
    for failure in Failure.objects.filter(q).order_by("ordinal", "part") if chosen else ():
        number_of = chosen.get((failure.report_id, failure.test_id))
        if number_of is not None:
            found[number_of].append(failure)
    return found


def _alike(texts: FailureTexts, numbers: Sequence[int]) -> dict[int, list[int]]:
    """The other shown tests that failed with the same signature and any text in this run."""
    by_signature: dict[int, list[int]] = {}
    for number in numbers:
        if number in texts.in_run and texts.in_run[number].length:
            by_signature.setdefault(texts.in_run[number].signature, []).append(number)
    return {
        number: [twin for twin in together if twin != number]
        for together in by_signature.values()
        for number in together
    }
