"""FLAST's own figures from its own data: precision and recall on the balanced set, 30 random splits of 80:20."""

from collections.abc import Iterable
from functools import lru_cache

import numpy as np

from bench.outcome import Outcome
from bench.predict import flast
from bench.predict.measures import precision, recall
from bench.predict.projects import Case, cases, is_here, rows
from bench.predict.units import labels

PUBLISHED = {(7, 0.5): (0.918, 0.912), (7, 0.95): (0.988, 0.715), (3, 0.5): (0.929, 0.925)}
"""k and sigma -> precision and recall (Verdecchia et al. 2021)."""
SPLITS, HELD_BACK, WITHIN = 30, 0.2, 0.02
PROJECTIONS = 3


@lru_cache(maxsize=1)
def balanced() -> list[Case]:
    return [case for case, row in zip(cases("msr"), rows("msr"), strict=True) if row["in_balanced_set"] == "1"]


@lru_cache(maxsize=PROJECTIONS)
def _points(seed: int) -> flast.Floats:
    return flast.vectors(balanced(), seed=seed)


def run() -> Iterable[Outcome]:
    if not is_here():
        return
    for (k, sigma), (sharp, whole) in PUBLISHED.items():
        found = np.median([measured(k, sigma, seed) for seed in range(PROJECTIONS)], axis=0)
        for word, value, bar in (("precision", found[0], sharp), ("recall", found[1], whole)):
            yield Outcome(f"FLAST k {k}, sigma {sigma}: {word}, published {bar}", float(value))
            yield Outcome("  off the published one by", abs(float(value) - bar), most=WITHIN)


def measured(k: int, sigma: float, seed: int, splits: int = SPLITS) -> tuple[float, float]:
    """Mean precision and recall over the splits, with one random projection."""
    flaky, points = labels(balanced()), _points(seed)
    source = np.random.default_rng(seed)
    found = []
    for _ in range(splits):
        held_back = np.concatenate(
            [
                source.permutation(np.flatnonzero(flaky == value))[: round((flaky == value).sum() * HELD_BACK)]
                for value in (True, False)
            ]
        )
        learnt = np.setdiff1d(np.arange(len(flaky)), held_back)
        predicted = flast.scores(points, flaky, learnt, held_back, k) >= sigma
        found.append((precision(predicted, flaky[held_back]), recall(predicted, flaky[held_back])))
    sharp, whole = np.nanmean(found, axis=0)
    return float(sharp), float(whole)
