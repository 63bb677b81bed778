"""Reads: the tests like one, what is predicted of it, and how often that was right."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from django.db.models import Q, QuerySet

from analytics.kernel.likeness.levels import Record
from analytics.kernel.likeness.score import Scores
from analytics.kernel.parameters import DEMANDS
from analytics.kernel.rates import clopper_pearson
from analytics.likeness.models import Prediction
from analytics.likeness.predictor import Examples, current_predictor
from analytics.likeness.units import unit_key
from analytics.models import Analysis
from ingest.identity import TestName

SETTLED = {"right": Q(right=True), "wrong": Q(right=False), "open": Q(right=None)}


@dataclass(frozen=True, slots=True)
class Neighbour:
    number: int
    distance: float
    flaky: bool
    causes: Sequence[str]


@dataclass(frozen=True, slots=True)
class Likeness:
    """A test among those that are known to be flaky or stable."""

    score: float
    like: float | None
    """None where there is no sketch of it, or none to compare it with."""
    flaky_beside: int
    beside: int
    neighbours: Sequence[Neighbour]
    causes: Sequence[str]
    """Of its flaky neighbours, the most frequent first."""

    @property
    def flaky_neighbours(self) -> int:
        return sum(neighbour.flaky for neighbour in self.neighbours)


def likeness(examples: Examples, scores: Scores, row: int) -> Likeness:
    """One answer of many."""
    places = [place for place in scores.neighbours.example[row].tolist() if place >= 0]
    near = [
        Neighbour(
            int(examples.known.units.number[place]),
            round(float(distance), 4),
            bool(examples.labels.flaky[place]),
            examples.causes[place] if examples.labels.flaky[place] else (),
        )
        for place, distance in zip(places, scores.neighbours.distance[row].tolist(), strict=False)
    ]
    like = float(scores.like[row])
    return Likeness(
        score=round(float(scores.score[row]), 4),
        like=None if np.isnan(like) else round(like, 4),
        flaky_beside=int(scores.beside.flaky[row]),
        beside=int(scores.beside.labelled[row]),
        neighbours=near,
        causes=examples.causes_of(places),
    )


def likeness_of(analysis: Analysis | None, number: int) -> Likeness | None:
    """Of a test of the window; None for others."""
    if analysis is None:
        return None
    examples = current_predictor(analysis).examples
    row = examples.row(number)
    if row is None:
        return None
    units = examples.known.units.take(np.array([examples.known.unit[row]]))
    return likeness(examples, examples.scores(units), 0)


# -- predictions -------------------------------------------------------------------------------------------------


def predictions_of(project_id: int) -> "QuerySet[Prediction]":
    """What was said, the newest first; scores about which nothing was said are not shown."""
    spoken = Prediction.objects.filter(project_id=project_id).exclude(word=Prediction.Word.NOTHING)
    return spoken.order_by("-made_at", "-pk")


def prediction_of(project_id: int, name: TestName) -> Prediction | None:
    return predictions_of(project_id).filter(unit=unit_key(name.classname, name.name, name.file)).first()


def track_record(project_id: int) -> Record | None:
    """Of "likely flaky": how many settled predictions were right; None before the first is settled."""
    settled = Prediction.objects.filter(project_id=project_id, word=Prediction.Word.LIKELY, right__isnull=False)
    outcomes = list(settled.values_list("right", flat=True))
    if not outcomes:
        return None
    low, high = clopper_pearson(np.array([sum(outcomes)]), np.array([len(outcomes)]), DEMANDS.confidence)
    return Record(sum(outcomes), len(outcomes), float(low[0]), float(high[0]))
