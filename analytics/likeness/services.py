"""Writes: predictions made with an analysis, and settled by a later one."""

from typing import Any

import numpy as np
from django.db import transaction
from django.utils import timezone

from analytics.columns.codec import Column
from analytics.kernel.executions import Floats, Ints
from analytics.kernel.likeness.levels import MORE_RUNS_LEVELS
from analytics.likeness.models import Prediction
from analytics.likeness.predictor import WORDS, Predictor
from ingest.models import Project

_WORD_OF = {code: word for word, code in WORDS.items()}


class Forecast:
    """What a predictor says of the tests of its own window that do not tell yet."""

    def __init__(self, predictor: Predictor) -> None:
        self.predictor = predictor
        examples = predictor.examples
        self.places: Ints = np.flatnonzero(examples.labels.open)
        worth_it = len(self.places) and examples.labels.flaky.any()
        self.scores: Floats = (
            examples.scores(examples.known.units.take(self.places)).score if worth_it else np.zeros(len(self.places))
        )
        self.words = predictor.words(self.scores)

    def column(self) -> Column:
        """By row of the window's columns: a code of `WORDS`."""
        by_unit = np.zeros(len(self.predictor.examples.known.units), dtype=np.uint8)
        by_unit[self.places] = self.words
        return by_unit[self.predictor.examples.known.unit]


@transaction.atomic
def predictions_renew(*, project: Project, forecast: Forecast) -> None:
    """Settle what can be told now, and keep what is thought of tests that are asked about for the first time."""
    predictions_settle(project=project, predictor=forecast.predictor)
    level = forecast.predictor.levels.likely
    known = forecast.predictor.examples.known
    rows = zip(forecast.places.tolist(), forecast.scores.tolist(), forecast.words.tolist(), strict=True)
    kept: dict[bytes, Prediction] = {
        bytes(row.unit): row for row in Prediction.objects.filter(project=project, right__isnull=True)
    }
    new, spoken = [], []
    for place, score, code in rows:
        if score < MORE_RUNS_LEVELS[0]:
            continue
        word, before = _WORD_OF[code], kept.get(known.keys[place])
        if before is None:
            values: dict[str, Any] = {"level": level.least if level else None, "word": word, "score": score}
            new.append(
                Prediction(project=project, unit=known.keys[place], number=int(known.units.number[place]), **values)
            )
        elif word == Prediction.Word.LIKELY != before.word:
            before.word, before.score, before.level = word, score, level.least if level else None
            before.made_at = timezone.now()
            spoken.append(before)
    Prediction.objects.bulk_create(new, ignore_conflicts=True, batch_size=1_000)
    Prediction.objects.bulk_update(spoken, ("word", "score", "level", "made_at"), batch_size=500)


def predictions_settle(*, project: Project, predictor: Predictor) -> None:
    """Right: the test is flaky by evidence. Wrong: it ran often and never failed."""
    found, known = predictor.examples.labels, predictor.examples.known
    place_of = {key: place for place, key in enumerate(known.keys)}
    right, wrong = [], []
    for pk, unit in Prediction.objects.filter(project=project, right__isnull=True).values_list("pk", "unit"):
        place = place_of.get(bytes(unit))
        if place is not None and found.known[place]:
            (right if found.flaky[place] else wrong).append(pk)
    for ids, outcome in ((right, True), (wrong, False)):
        Prediction.objects.filter(pk__in=ids).update(right=outcome, settled_at=timezone.now())
