"""Failing tests of a run as its page lists them: names, words, what is known of each. Touches the shown rows alone."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from django.db import connection
from django.db.models import Q
from django.db.models.functions import Left, Length

from analytics.rows import TestRow, absent_row, test_rows
from analytics.selectors import test_findings
from dashboard.web.analysed import Analysed
from dashboard.web.cases import ShownCase, attempts_of, shown_case
from dashboard.web.judging import JudgedRun, Place
from dashboard.web.red import NOT_ASKED, Before, Failing, Group, remark
from dashboard.web.sentences import Clause, Sizes, cluster_sizes, explanation
from ingest.models import Failure, Project, Test
from ingest.selectors import CaseRow
from ingest.verdict import Verdict

ASKED_OF = 1_000
"""Of so many failing tests of a run it is asked whether they failed so before."""
TEXT_BUDGET = 60_000
"""Characters of failure text that come with the page; the others are fetched when they are opened."""
_FIRST_WORDS = 300


@dataclass(frozen=True, slots=True)
class Said:
    """What a failing test said in this run: its signature, and the beginning of its words."""

    test: int
    """Id of the test, as the report names it."""
    signature: int
    words: str
    length: int


@dataclass(frozen=True, slots=True)
class ShownFailure:
    """One failing test on the page."""

    failing: Failing
    test: Test
    place: Place
    row: TestRow
    remark: str
    clauses: Sequence[Clause]
    words: str
    odd: bool
    """Flaky, and with words that it never had before."""
    attempts: int
    shown: ShownCase | None
    """Its texts, where they come with the page."""
    alike: Sequence[Test] = ()
    """Other tests of the page with the same signature in this run."""
    verdict_then: Verdict | None = None
    compared: bool = False


@dataclass(frozen=True, slots=True)
class Asked:
    """What was said in the run, and what was known before it, by test number."""

    said: Mapping[int, Said] = field(default_factory=dict)
    before: Mapping[int, Before] = field(default_factory=dict)

    def odd(self, number: int, group: Group) -> bool:
        return group is Group.FLAKY and self.before.get(number, NOT_ASKED).same_words is False


def asked_of(judged: JudgedRun, numbers: Sequence[int]) -> Asked:
    """What these tests said, and whether they said it before; two queries."""
    some = numbers[:ASKED_OF]
    said = _said(judged, some)
    return Asked(said, _before(judged, said))


def _said(judged: JudgedRun, numbers: Sequence[int]) -> dict[int, Said]:
    """From the last failing attempt of each test; a test's name in the report may be an older one."""
    place_of = {(judged.places[one].report.pk, judged.places[one].stored): one for one in numbers}
    reports, stored = {report for report, _ in place_of}, {number for _, number in place_of}
    found = Failure.objects.filter(
        report__in=reports, part=0, test__project=judged.run.project_id, test__number__in=stored
    )
    words = {"words": Left("message", _FIRST_WORDS), "kind": Left("type", _FIRST_WORDS)}
    length = Length("message") + Length("text") + Length("system_out") + Length("system_err")
    fields = ("report_id", "test__number", "test_id", "signature_id", "words", "kind", "length")
    rows = found.annotate(**words, length=length).order_by("ordinal").values_list(*fields) if numbers else ()
    told: dict[int, Said] = {}
    for report, number, test, signature, message, kind, size in rows:
        now = place_of.get((report, number))
        if now is not None:
            earlier = told[now].length if now in told else 0
            told[now] = Said(test, signature, message or kind, size + earlier)
    return told


_BEFORE = """
    SELECT asked.number,
           bool_or(EXISTS (SELECT FROM ingest_failure AS failure JOIN ingest_report AS report
                           ON report.id = failure.report_id
                           WHERE failure.test_id = test.id AND report.started_at < %(at)s AND report.run_id <> %(run)s)),
           bool_or(EXISTS (SELECT FROM ingest_failure AS failure JOIN ingest_report AS report
                           ON report.id = failure.report_id
                           WHERE failure.test_id = test.id AND failure.signature_id = asked.signature
                             AND report.started_at < %(at)s AND report.run_id <> %(run)s))
    FROM unnest(%(numbers)s::int[], %(signatures)s::bigint[]) AS asked(number, signature)
    JOIN ingest_test AS now ON now.project_id = %(project)s AND now.number = asked.number
    JOIN ingest_test AS test ON test.id = now.id OR test.alias_of_id = now.id
    GROUP BY asked.number
"""


def _before(judged: JudgedRun, said: Mapping[int, Said]) -> dict[int, Before]:
    """Whether tests failed before this run, under any of their names, and with the same signature."""
    if not said:
        return {}
    asked: dict[str, object] = {
        "numbers": list(said),
        "signatures": [one.signature for one in said.values()],
        "at": _began(judged),
        "run": judged.run.pk,
        "project": judged.run.project_id,
    }
    with connection.cursor() as cursor:
        cursor.execute(_BEFORE, asked)
        return {number: Before(failed, same) for number, failed, same in cursor.fetchall()}


def _began(judged: JudgedRun) -> datetime:
    return min((report.started_at for report in judged.reports), default=judged.run.started_at)


def shown_failures(
    project: Project,
    judged: JudgedRun,
    analysed: Analysed,
    asked: Asked,
    numbers: Sequence[int],
    then: Mapping[int, Verdict] | None,
) -> dict[int, ShownFailure]:
    """By test number, of those that the page shows."""
    test_of = _tests(project, [*numbers, *(judged.places[one].stored for one in numbers)])
    rows = _rows(analysed, numbers)
    findings = test_findings(analysed.analysis, numbers)
    sizes = cluster_sizes(analysed.columns, numbers)
    texts = _texts(judged, asked, numbers)
    alike = _alike(asked, numbers)
    retried = attempts_of([_key(judged, asked, one) for one in numbers if one in asked.said and _retried(judged, one)])
    failing_of = {one.number: one for one in judged.failing}
    shown = {}
    for number in numbers:
        failing, group, place = failing_of[number], judged.groups[number], judged.places[number]
        mine = retried.get(_key(judged, asked, number), ()) if number in asked.said else ()
        said = asked.said.get(number)
        case = CaseRow(
            test_of[place.stored], place.verdict, place.vectors.seconds(place.row), bool(mine), texts.get(number, [])
        )
        row = rows[number]
        broken = failing.broken if group in (Group.BROKEN, Group.NEW) else None
        shown[number] = ShownFailure(
            failing=failing,
            test=test_of[number],
            place=place,
            row=row,
            remark=remark(failing, group, asked.before.get(number, NOT_ASKED), project.default_branch),
            clauses=explanation(
                row, findings.get(number, {}), sizes.get(number, Sizes()), broken, project.default_branch
            )
            if analysed.analysis is not None
            else [],
            words=said.words if said else "",
            odd=asked.odd(number, group),
            attempts=len(mine),
            shown=shown_case(case, mine) if number in texts else None,
            alike=[test_of[one] for one in alike.get(number, ())],
            verdict_then=then.get(number) if then is not None else None,
            compared=then is not None,
        )
    return shown


def _tests(project: Project, numbers: Iterable[int]) -> dict[int, Test]:
    found = Test.objects.filter(project=project, number__in=set(numbers))
    return {test.number: test for test in found}


def _rows(analysed: Analysed, numbers: Sequence[int]) -> dict[int, TestRow]:
    row_of = analysed.columns.rows(numbers)
    told = test_rows(analysed.columns, list(row_of.values())) if row_of else []
    known = dict(zip(row_of, told, strict=True))
    return {number: known.get(number) or absent_row(number) for number in numbers}


def _key(judged: JudgedRun, asked: Asked, number: int) -> tuple[int, int]:
    return judged.places[number].report.pk, asked.said[number].test


def _retried(judged: JudgedRun, number: int) -> bool:
    place = judged.places[number]
    return place.vectors.retried(place.row)


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
