"""What failing tests said in a run, and whether they said it before."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from django.db import connection
from django.db.models.functions import Left, Length

from analytics.runs.failing_tests import NOT_ASKED, Before, Group
from analytics.runs.judgement import JudgedRun
from ingest.models import REPORT_COUNTS, Failure

ASKED_OF = 1_000
"""Of so many failing tests of a run it is asked whether they failed so before."""
_FIRST_WORDS = 300


@dataclass(frozen=True, slots=True)
class FailureText:
    """What a failing test said in this run: its signature, and the beginning of its words."""

    test: int
    """Id of the test, as the report names it."""
    signature: int
    words: str
    length: int


@dataclass(frozen=True, slots=True)
class FailureTexts:
    """What was said in the run, and what was known before it, by test number."""

    in_run: Mapping[int, FailureText] = field(default_factory=dict)
    before: Mapping[int, Before] = field(default_factory=dict)

    def odd(self, number: int, group: Group) -> bool:
        return group is Group.FLAKY and self.before.get(number, NOT_ASKED).same_words is False


def texts_of(judged: JudgedRun, numbers: Sequence[int]) -> FailureTexts:
    """How these tests failed, and whether they failed that way before, in two queries."""
    texts = _failure_texts(judged, numbers[:ASKED_OF])
    return FailureTexts(texts, _before(judged, texts))


def _failure_texts(judged: JudgedRun, numbers: Sequence[int]) -> dict[int, FailureText]:
    """The last failure of each test by its current number; the report may know the test by an older one."""
    place_of = {(judged.places[number].report.pk, judged.places[number].stored): number for number in numbers}
    reports, stored = {report for report, _ in place_of}, {number for _, number in place_of}
    found = Failure.objects.filter(
        report__in=reports, part=0, test__project=judged.run.project_id, test__number__in=stored
    )
    words = {"words": Left("message", _FIRST_WORDS), "kind": Left("type", _FIRST_WORDS)}
    length = Length("message") + Length("text") + Length("system_out") + Length("system_err")
    fields = ("report_id", "test__number", "test_id", "signature_id", "words", "kind", "length")
    rows = found.annotate(**words, length=length).order_by("ordinal").values_list(*fields) if numbers else ()
    texts: dict[int, FailureText] = {}
    for report, number, test, signature, message, kind, size in rows:
        now = place_of.get((report, number))
        if now is not None:
            earlier = texts[now].length if now in texts else 0
            texts[now] = FailureText(test, signature, message or kind, size + earlier)
    return texts


_BEFORE = f"""
    SELECT asked.number,
           bool_or(EXISTS (
             SELECT FROM ingest_failure AS failure JOIN ingest_report AS report ON report.id = failure.report_id
             WHERE failure.test_id = test.id AND report.placed_at < %(at)s AND NOT report.run_id = ANY(%(runs)s)
               AND {REPORT_COUNTS})),
           bool_or(EXISTS (
             SELECT FROM ingest_failure AS failure JOIN ingest_report AS report ON report.id = failure.report_id
             WHERE failure.test_id = test.id AND failure.signature_id = asked.signature
               AND report.placed_at < %(at)s AND NOT report.run_id = ANY(%(runs)s) AND {REPORT_COUNTS}))
    FROM unnest(%(numbers)s::int[], %(signatures)s::bigint[]) AS asked(number, signature)
    JOIN ingest_test AS now ON now.project_id = %(project)s AND now.number = asked.number
    JOIN ingest_test AS test ON test.id = now.id OR test.alias_of_id = now.id
    GROUP BY asked.number
"""  # noqa: S608 - our own words


def _before(judged: JudgedRun, texts: Mapping[int, FailureText]) -> dict[int, Before]:
    """Whether tests failed before this run, under any of their names, and with the same signature."""
    if not texts:
        return {}
    parameters: dict[str, object] = {
        "numbers": list(texts),
        "signatures": [text.signature for text in texts.values()],
        "at": _began(judged),
        "runs": list(judged.run_ids),
        "project": judged.run.project_id,
    }
    with connection.cursor() as cursor:
        cursor.execute(_BEFORE, parameters)
        return {number: Before(failed, same) for number, failed, same in cursor.fetchall()}


def _began(judged: JudgedRun) -> datetime:
    return min((report.placed_at for report in judged.reports), default=judged.run.placed_at)
