"""How often a given bound fails: whether the interval holds the truth as often as it says."""

from collections.abc import Iterable

import numpy as np

from analytics.kernel.tails.bounds import extrapolate
from analytics.kernel.tails.failures import estimate_failures
from analytics.kernel.tails.samples import sample_of
from bench.bounds.distributions import LIGHT, drawn
from bench.outcome import Outcome
from bench.parallel import each

SAMPLES = 300
NAMES = ("normal", "exponential", "uniform", "gamma(2)")
SIZES = (100, 500)
SHARES = (0.05, 0.01, 0.001)


def coverage(name: str, size: int, samples: int = SAMPLES) -> list[float]:
    """For each share of failures, how many of the samples' intervals hold it."""
    held = []
    for values in drawn(name, samples, size, seed=1):
        found = extrapolate(sample_of(values))
        bounds = LIGHT[name].isf(SHARES) / found.sample.unit
        intervals = [estimate_failures(found, float(bound), is_strict=True) for bound in bounds]
        held.append([interval.low <= share <= interval.high for interval, share in zip(intervals, SHARES, strict=True)])
    return [float(share) for share in np.mean(held, axis=0)]


def run(samples: int = SAMPLES) -> Iterable[Outcome]:
    cells = [(name, size, samples) for name in NAMES for size in SIZES]
    for outcomes in each(outcomes_of, cells):
        yield from outcomes


def outcomes_of(cell: tuple[str, int, int]) -> list[Outcome]:
    name, size, samples = cell
    about = [f"{name}, {size} values, fails in {share:.1%}: intervals that hold it" for share in SHARES]
    found = zip(about, coverage(name, size, samples), strict=True)
    return [Outcome(what, share, least=0.88) for what, share in found]
