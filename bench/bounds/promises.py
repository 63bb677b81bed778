"""Proposed bounds against the truth: how many keep their promise, how far the others miss it, how loose they are."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from analytics.kernel.executions import Floats
from analytics.kernel.tails.bounds import extrapolate
from analytics.kernel.tails.samples import sample_of
from bench.bounds.distributions import ALL, LIGHT, drawn
from bench.outcome import Outcome
from bench.parallel import each

SAMPLES = 300
SIZES = (200, 1_000)
WITHOUT_BOUND = {"Cauchy": 0.95, "half-Cauchy": 0.90, "Pareto(2)": 0.80}
"""The share of samples in which silence is the right answer, at least."""


@dataclass(frozen=True, slots=True)
class Kept:
    """What became of the promise `tolerated` in many samples of one distribution."""

    without: float
    """Share of samples for which no bound is proposed."""
    coverage: float
    """Share of proposed bounds that fail no more often than promised."""
    median: float
    worst: float
    """Median and 95th percentile of true failures to promised ones."""
    looseness: float
    """Median of the distance from the usual value to the bound, to that of the true quantile."""


def kept(name: str, bounds: Sequence[float | None], tolerated: float) -> Kept:
    truth = ALL[name]
    made = np.array([bound for bound in bounds if bound is not None])
    if not len(made):
        return Kept(1.0, 1.0, 0.0, 0.0, 0.0)
    ratio = truth.sf(made) / tolerated
    distance = (made - truth.median()) / (truth.isf(tolerated) - truth.median())
    share = 1 - len(made) / len(bounds)
    # A bound that is exact but for rounding keeps its promise.
    coverage = float((ratio <= 1 + 1e-9).mean())
    return Kept(share, coverage, float(np.median(ratio)), float(np.quantile(ratio, 0.95)), float(np.median(distance)))


def bounds_of(samples: Floats, tolerated: Sequence[float]) -> list[list[float | None]]:
    """For each share tolerated, the bounds of all samples."""
    rows = []
    for values in samples:
        sample = sample_of(values)
        found = extrapolate(sample)
        rungs = [found.rung(share).bound for share in tolerated]
        rows.append([None if bound is None else bound * sample.unit for bound in rungs])
    return [list(column) for column in zip(*rows, strict=True)]


def run(samples: int = SAMPLES) -> Iterable[Outcome]:
    cells = [(name, size, samples) for size in SIZES for name in ALL]
    for outcomes in each(outcomes_of, cells):
        yield from outcomes


def outcomes_of(cell: tuple[str, int, int]) -> list[Outcome]:
    """All that is judged of so many samples of one distribution and size."""
    name, size, samples = cell
    tolerated = (1 / size, 1 / (10 * size))
    columns = bounds_of(drawn(name, samples, size), tolerated)
    if name in WITHOUT_BOUND:
        least = WITHOUT_BOUND[name]
        return [
            Outcome(
                f"{_about(name, size, share)}: no bound is proposed", kept(name, bounds, share).without, least=least
            )
            for share, bounds in zip(tolerated, columns, strict=True)
        ]
    judged = [
        _judged(name, size, share, kept(name, bounds, share)) for share, bounds in zip(tolerated, columns, strict=True)
    ]
    return [outcome for outcomes in judged for outcome in outcomes]


def _about(name: str, size: int, share: float) -> str:
    return f"{name}, {size} values, 1 in {1 / share:,.0f}"


def _judged(name: str, size: int, share: float, found: Kept) -> Iterable[Outcome]:
    about = _about(name, size, share)
    is_light = name in LIGHT
    worst = 1.5 if is_light else 2.5 if name == "t(5)" else 5.0 if (size, share) == (1_000, 1e-4) else None
    yield Outcome(f"{about}: bounds that keep it", found.coverage, least=0.90 if is_light else None)
    yield Outcome(f"{about}: 95th percentile of failures to those promised", found.worst, most=worst)
    most = 1.35 if (name, size, share) == ("normal", 1_000, 1e-3) else None
    yield Outcome(f"{about}: looseness", found.looseness, most=most, aim="1 is the truth")
    if found.without:
        yield Outcome(f"{about}: samples without a bound", found.without)
