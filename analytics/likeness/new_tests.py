"""The tests that a pull request brings, and what is thought of them."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import Min

from analytics.likeness.answers import answer
from analytics.likeness.models import PullRequestAnswer
from analytics.likeness.predictor import current_predictor
from analytics.likeness.sketches import SentSketch
from analytics.likeness.units import unit_key
from analytics.models import Analysis
from ingest.identity import TestName
from ingest.models import Project, Report, Run, Test
from ingest.selectors import roster_numbers

_MOST = 200


@dataclass(frozen=True, slots=True)
class NewTest:
    name: TestName
    word: str
    """`likely flaky`, `worth more runs`, or nothing."""
    flaky_beside: int
    beside: int
    flaky_like: int
    like: int
    runs_advised: int | None


def new_tests(project: Project, run: Run, reports: Sequence[Report], analysis: Analysis | None) -> list[NewTest]:
    """Tests of a pull request's run that no earlier run of the project knows; likely flaky ones first."""
    if not run.pull_request or analysis is None:
        return []
    began = Run.objects.filter(project=project, pull_request=run.pull_request).aggregate(began=Min("placed_at"))[
        "began"
    ]
    young = Test.in_ci.filter(project=project, alias_of=None, first_seen__gte=began or run.placed_at)
    candidates = {test.number: test.test_name for test in young.order_by("number")[: 10 * _MOST]}
    ran = {number for report in reports for number in roster_numbers(report.roster_id) if number in candidates}
    names = [name for number, name in candidates.items() if number in ran][:_MOST]
    if not names:
        return []
    found = [
        _new_test(name, result) for name, result in zip(names, _results(project, run, names, analysis), strict=True)
    ]
    order = {"likely flaky": 0, "worth more runs": 1, "": 2}
    return sorted(found, key=lambda new: order[new.word])


def _results(project: Project, run: Run, names: Sequence[TestName], analysis: Analysis) -> list[dict[str, Any]]:
    """What the pull request was answered, else what the tests beside each say; nothing where its own results tell."""
    kept = (
        PullRequestAnswer.objects.filter(project=project, commit=run.commit).values_list("results", flat=True).first()
    )
    answered = {unit_key(each["classname"], each["name"], each["file"]): each for each in kept or ()}
    sent = [SentSketch(name.classname, name.name, name.file, 0, b"", None, b"") for name in names]
    own = answer(project, analysis, "", sent)["results"]
    examples = current_predictor(analysis).examples
    telling = {key for place, key in enumerate(examples.known.keys) if examples.labels.known[place]}
    results = []
    for test, beside_it in zip(sent, own, strict=True):
        result = answered.get(test.unit, beside_it)
        results.append({**result, "word": "" if test.unit in telling else result["word"]})
    return results


def _new_test(name: TestName, result: dict[str, Any]) -> NewTest:
    return NewTest(
        name,
        result["word"],
        result["beside"]["flaky"],
        result["beside"]["of"],
        sum(near["flaky"] for near in result["neighbours"]),
        len(result["neighbours"]),
        result["runs_advised"] if result["word"] else None,
    )
