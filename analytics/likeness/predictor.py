"""What a project's tests teach: examples, the right to speak, and answers about tests that nobody knows yet."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np

from analytics.columns.codec import Column, Columns, columns_of
from analytics.columns.sources import CATEGORIES
from analytics.kernel.executions import Floats, Ints
from analytics.kernel.likeness.backtest import backtest
from analytics.kernel.likeness.earlier import Earlier, Past, earlier
from analytics.kernel.likeness.labels import Labels, Results, labels
from analytics.kernel.likeness.levels import Cases, Level, Levels, Record, levels
from analytics.kernel.likeness.score import Scores, Units, score
from analytics.kernel.parameters import DEMANDS, Demands
from analytics.kernel.reruns import NEVER
from analytics.likeness.models import Prediction
from analytics.likeness.units import ProjectUnits, project_units
from analytics.models import Analysis
from ingest.models import Project

UNKNOWN_RUNS = 59
"""Executions that show a failure rate of 5 % with 95 %: the advice where the project knows no better."""
_NOT_REPRESENTATIVE = "most tests have run fewer than {} times"
WORDS = {Prediction.Word.NOTHING: 0, Prediction.Word.LIKELY: 1, Prediction.Word.MORE_RUNS: 2}
"""As the column `prediction` stores them."""


@dataclass(frozen=True, slots=True)
class Examples:
    """Labelled test functions, and those that nothing is known of yet, of one analysis."""

    numbers: Column
    """Of the tests of the window, ascending."""
    known: ProjectUnits
    labels: Labels
    causes: Sequence[tuple[str, ...]]
    """By unit: the causes of its flaky tests."""
    runs_advised: int

    def row(self, number: int) -> int | None:
        """The row of a test; None where the window does not know it."""
        at = int(np.searchsorted(self.numbers, number))
        return at if at < len(self.numbers) and self.numbers[at] == number else None

    def scores(self, questions: Units) -> Scores:
        """Neighbours are places among all units."""
        learnt = np.flatnonzero(self.labels.known)
        found = score(questions, self.known.units.take(learnt), self.labels.flaky[learnt])
        place = found.neighbours.example
        if place.size:
            place = np.where(place >= 0, learnt[np.maximum(place, 0)], -1)
        return replace(found, neighbours=replace(found.neighbours, example=place))

    def causes_of(self, places: Sequence[int]) -> list[str]:
        """Those of the flaky ones among these units, the most frequent first."""
        counts = Counter(cause for place in places if self.labels.flaky[place] for cause in self.causes[place])
        return [cause for cause, _ in sorted(counts.items(), key=lambda item: (-item[1], item[0]))]


def examples_of(project_id: int, columns: Mapping[str, Column] | Columns) -> Examples:
    """What the tests of a window are examples of."""
    known = project_units(project_id, columns["number"])
    results = Results(
        known.unit,
        columns["state"].astype(np.int64),
        columns["executed"].astype(np.int64),
        columns["attempts_failed"].astype(np.int64),
        columns["in_incidents"].astype(np.int64),
    )
    return Examples(
        columns["number"],
        known,
        labels(results, len(known.units), DEMANDS),
        _causes(known, columns["causes"]),
        runs_advised(columns["to_expose"]),
    )


def examples_at(analysis: Analysis) -> Examples:
    """Those of an analysis, which do not change. Sketches that came since count with the next one."""
    return _examples(analysis.project_id, columns_of(analysis))


@lru_cache(maxsize=4)
def _examples(project_id: int, columns: Columns) -> Examples:
    """By these very columns, which are kept in memory: an id may be another analysis's after a failover."""
    return examples_of(project_id, columns)


def _causes(known: ProjectUnits, bits: Column) -> list[tuple[str, ...]]:
    joined = np.zeros(len(known.units), dtype=np.int64)
    np.bitwise_or.at(joined, known.unit, bits.astype(np.int64))
    words = {
        value: tuple(word for bit, word in enumerate(CATEGORIES) if value >> bit & 1) for value in set(joined.tolist())
    }
    return [words[value] for value in joined.tolist()]


def runs_advised(to_expose: Column) -> int:
    """The median of the numbers of executions that expose the project's flaky tests."""
    known = to_expose[(to_expose > 0) & (to_expose != NEVER)]
    return round(float(np.median(known))) if len(known) else UNKNOWN_RUNS


# -- the right to speak ------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Predictor:
    """Examples, and at which scores they may be spoken of."""

    examples: Examples
    levels: Levels
    live: bool
    """Judged by real predictions that were settled, no longer by the backtest."""

    def words(self, scores: Floats) -> Ints:
        """By score: a code of `WORDS`."""
        words = np.zeros(len(scores), dtype=np.int64)
        for word, level in (
            (Prediction.Word.MORE_RUNS, self.levels.more_runs),
            (Prediction.Word.LIKELY, self.levels.likely),
        ):
            if level is not None:
                words[scores >= level.least] = WORDS[word]
        return words

    def summary(self) -> dict[str, Any]:
        """What an analysis keeps of it."""
        found, known = self.examples.labels, self.examples.known
        return {
            "level": self.levels.likely.least if self.levels.likely else None,
            "more_runs": self.levels.more_runs.least if self.levels.more_runs else None,
            "record": _record(self.levels.likely),
            "why": self.levels.why,
            "live": self.live,
            "flaky": int(found.flaky.sum()),
            "stable": int(found.stable.sum()),
            "open": int(found.open.sum()),
            "sketches": int(known.units.sketch.any(axis=1).sum()),
            "ignored": known.ignored,
            "runs_advised": self.examples.runs_advised,
        }


def _record(level: Level | None) -> dict[str, Any] | None:
    if level is None:
        return None
    return {
        "right": level.record.right,
        "of": level.record.of,
        "low": round(level.record.low, 6),
        "high": round(level.record.high, 6),
    }


def learn(project: Project, columns: Mapping[str, Column]) -> Predictor:
    """From the tests of a window, and from what became of earlier predictions."""
    examples, demands = examples_of(project.pk, columns), replace(DEMANDS, least_right=project.least_right)
    found = examples.labels
    if not found.representative:
        return Predictor(examples, Levels(None, None, _NOT_REPRESENTATIVE.format(demands.stable_executions)), False)
    live = _settled(project, demands)
    flaky, all_ = int(found.flaky.sum()), int(found.known.sum())
    if flaky < demands.least_flaky:
        cases = Cases(np.zeros(0), np.zeros(0, dtype=bool))
    else:
        cases = live or _backtest(project.pk, examples)
    return Predictor(examples, levels(cases, flaky, flaky / max(all_, 1), demands), live is not None)


def _backtest(project_id: int, examples: Examples) -> Cases:
    """Of the labelled units, in the order in which all were written; of a very large project, of the newest."""
    known, units = examples.labels.known, examples.known.units
    order = np.lexsort((units.number, examples.known.written))[-_MOST_JUDGED:]
    place = np.flatnonzero(known[order])
    all_ = earlier(units.number[order], units.sketch[order], _EARLIER.pop(project_id, None))
    while len(_EARLIER) >= _PROJECTS:
        _EARLIER.pop(next(iter(_EARLIER)), None)
    _EARLIER[project_id] = all_
    labelled = order[place]
    return backtest(units.take(labelled), examples.labels.flaky[labelled], Past(all_, place))


_MOST_JUDGED = 15_000
"""Units whose past is looked through: its time grows with the square, and a record of so many is sharp enough."""
_EARLIER: dict[int, Earlier] = {}
"""By project, of those analysed last by this process: sketches change seldom."""
_PROJECTS = 4


def _settled(project: Project, demands: Demands) -> Cases | None:
    """What became of real predictions, once there are enough of them."""
    rows = Prediction.objects.filter(project=project, right__isnull=False).values_list("score", "right", "word")
    found = list(rows)
    if sum(word == Prediction.Word.LIKELY for _, _, word in found) < demands.live_predictions:
        return None
    return Cases(
        np.array([score for score, _, _ in found], dtype=np.float64),
        np.array([right for _, right, _ in found], dtype=bool),
    )


def current_predictor(analysis: Analysis) -> Predictor:
    """Of the current analysis, as it was judged then."""
    kept = analysis.summary["prediction"]
    return Predictor(examples_at(analysis), _levels(kept), kept["live"])


def _levels(kept: Mapping[str, Any]) -> Levels:
    likely = None if kept["level"] is None else Level(kept["level"], Record(**kept["record"]))
    nothing = Record(0, 0, 0.0, 1.0)
    more = None if kept["more_runs"] is None else Level(kept["more_runs"], nothing)
    return Levels(likely, more, kept["why"])
