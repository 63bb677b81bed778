"""Scores of a classification: shares with intervals, precision, recall and F1 over seeds, agreement of labels."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy import stats

from analytics.kernel.executions import Flags, Floats, Ints

CONFIDENCE = 0.95


@dataclass(frozen=True, slots=True)
class Share:
    """A value with its interval; NaN if there was nothing to judge."""

    value: float
    low: float
    high: float

    @property
    def interval(self) -> str:
        return f"({self.low:.3f} to {self.high:.3f})"


def share(hits: int, of: int) -> Share:
    """hits / of, with the interval of Clopper and Pearson."""
    if of == 0:
        return Share(float("nan"), float("nan"), float("nan"))
    interval = stats.binomtest(hits, of).proportion_ci(CONFIDENCE, method="exact")
    return Share(hits / of, float(interval.low), float(interval.high))


@dataclass(frozen=True, slots=True)
class Tally:
    """True positives, false positives and false negatives, a row for each seed."""

    right: Ints
    wrong: Ints
    missed: Ints

    @property
    def precision(self) -> Share:
        return share(int(self.right.sum()), int((self.right + self.wrong).sum()))

    @property
    def recall(self) -> Share:
        return share(int(self.right.sum()), int((self.right + self.missed).sum()))

    @property
    def f1(self) -> Share:
        """Over all seeds; the interval by resampling seeds, since tests of one history are correlated."""
        seeds = len(self.right)
        draws = np.random.default_rng(0).integers(seeds, size=(2_000, seeds))
        resampled = _f1(*(column[draws].sum(axis=1) for column in (self.right, self.wrong, self.missed)))
        tail = (1 - CONFIDENCE) / 2
        low, high = np.nanquantile(resampled, [tail, 1 - tail])
        value = _f1(*(column.sum(keepdims=True) for column in (self.right, self.wrong, self.missed)))
        return Share(float(value[0]), float(low), float(high))

    @property
    def worst(self) -> tuple[float, float, float]:
        """Precision, recall and F1, each of its worst seed; a seed with nothing to judge is left out."""
        shares = (
            _divided(self.right, self.right + self.wrong),
            _divided(self.right, self.right + self.missed),
            _f1(self.right, self.wrong, self.missed),
        )
        precision, recall, f1 = (float(np.nanmin(column, initial=1.0)) for column in shares)
        return precision, recall, f1


def _divided(hits: Ints, of: Ints) -> Floats:
    return np.asarray(np.divide(hits, of, out=np.full(len(of), np.nan), where=of > 0))


def _f1(right: Ints, wrong: Ints, missed: Ints) -> Floats:
    """2 TP / (2 TP + FP + FN); 1 if there was nothing to find and nothing was claimed."""
    both = 2 * right + wrong + missed
    return np.asarray(np.divide(2 * right, both, out=np.ones(len(both)), where=both > 0))


def tally(claimed: Flags, true: Flags, among: Flags) -> Tally:
    """The tally of one seed; `among` limits the tests that should be found, not the false positives."""
    counts = (claimed & true & among, claimed & ~true, ~claimed & true & among)
    right, wrong, missed = (np.array([np.count_nonzero(flags)]) for flags in counts)
    return Tally(right, wrong, missed)


def pooled(tallies: list[Tally]) -> Tally:
    columns = ([getattr(part, name) for part in tallies] for name in ("right", "wrong", "missed"))
    return Tally(*(np.concatenate(column) for column in columns))


def quartiles(values: Floats) -> tuple[float, float, float]:
    """First quartile, median and third quartile; values may be infinite ("never"). NaN for no values."""
    if not len(values):
        return float("nan"), float("nan"), float("nan")
    first, median, third = np.quantile(values, [0.25, 0.5, 0.75], method="inverted_cdf")
    return float(first), float(median), float(third)


def adjusted_rand(first: npt.NDArray[np.integer], second: npt.NDArray[np.integer]) -> float:
    """Agreement of two labellings beyond chance (Hubert and Arabie 1985); 1 if both are trivial and equal."""
    _, left = np.unique(first, return_inverse=True)
    _, right = np.unique(second, return_inverse=True)
    table = np.zeros((left.max(initial=0) + 1, right.max(initial=0) + 1), dtype=np.int64)
    np.add.at(table, (left, right), 1)

    def pairs(counts: Ints) -> float:
        return float((counts * (counts - 1) // 2).sum())

    together, in_one, in_other = pairs(table), pairs(table.sum(axis=1)), pairs(table.sum(axis=0))
    possible = len(left) * (len(left) - 1) / 2
    expected = in_one * in_other / possible if possible else 0.0
    most = (in_one + in_other) / 2
    return 1.0 if most == expected else (together - expected) / (most - expected)
