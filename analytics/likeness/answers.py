"""What a pull request is answered about its tests: by what is known, without learning anything from it."""

from collections.abc import Sequence
from typing import Any

from django.utils import timezone

from analytics.history.names import Names, names
from analytics.likeness.models import Prediction, PullRequestAnswer
from analytics.likeness.predictor import UNKNOWN_RUNS, WORDS, Predictor, current_predictor
from analytics.likeness.selectors import Likeness, likeness
from analytics.likeness.sketches import SentSketch, as_units
from analytics.models import Analysis
from ingest.models import Project

SPOKEN = {Prediction.Word.LIKELY: "likely flaky", Prediction.Word.MORE_RUNS: "worth more runs"}
NOT_ANALYSED = "nothing is analysed yet"
_MOST_KEPT = 500
"""Results that are kept for the page of a run: likely flaky ones first."""


def answer(project: Project, analysis: Analysis | None, key_id: str, tests: Sequence[SentSketch]) -> dict[str, Any]:
    """What is thought of these tests. Nothing is kept of it here."""
    if analysis is None:
        nothing = {"speaks": False, "level": None, "record": None, "why": NOT_ANALYSED}
        return {**nothing, "results": [_unknown(test) for test in tests]}
    predictor = current_predictor(analysis)
    kept, examples = analysis.summary["prediction"], predictor.examples
    scores = examples.scores(as_units(tests, examples.known, key_id))
    found = [likeness(examples, scores, row) for row in range(len(tests))]
    known = names(project.pk, tests=(near.number for like in found for near in like.neighbours))
    words = predictor.words(scores.score)
    return {
        "speaks": kept["level"] is not None,
        "level": kept["level"],
        "record": kept["record"],
        "why": kept["why"],
        "results": [
            _result(test, like, int(code), predictor, known)
            for test, like, code in zip(tests, found, words.tolist(), strict=True)
        ],
    }


def _unknown(test: SentSketch) -> dict[str, Any]:
    return {
        **_name(test),
        "word": "",
        "score": None,
        "like": None,
        "beside": {"flaky": 0, "of": 0},
        "causes": [],
        "runs_advised": None,
        "neighbours": [],
    }


def _name(test: SentSketch) -> dict[str, str]:
    return {"classname": test.classname, "name": test.name, "file": test.file}


def _result(test: SentSketch, like: Likeness, code: int, predictor: Predictor, known: Names) -> dict[str, Any]:
    word = next((SPOKEN[word] for word, number in WORDS.items() if number == code and code), "")
    return {
        **_name(test),
        "word": word,
        "score": like.score,
        "like": like.like,
        "beside": {"flaky": like.flaky_beside, "of": like.beside},
        "causes": list(like.causes),
        "runs_advised": (predictor.examples.runs_advised or UNKNOWN_RUNS) if word else None,
        "neighbours": [
            {
                "number": near.number,
                "classname": known.test(near.number).classname,
                "name": known.test(near.number).name,
                "file": known.test(near.number).file,
                "distance": near.distance,
                "flaky": near.flaky,
                "causes": list(near.causes),
            }
            for near in like.neighbours
        ],
    }


def answer_keep(*, project: Project, commit: str, pull_request: str, results: Sequence[dict[str, Any]]) -> None:
    """For the page of the commit's runs, where nobody learns from it."""
    likely_first = sorted(results, key=lambda result: (result["word"] != "likely flaky", -(result["score"] or 0)))
    PullRequestAnswer.objects.update_or_create(
        project=project,
        commit=commit,
        defaults={"pull_request": pull_request, "made_at": timezone.now(), "results": likely_first[:_MOST_KEPT]},
    )
