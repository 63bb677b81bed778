"""The published method (FLEX: Dutta, Shi, Misailovic, ISSTA 2021) beside ours, on the same values.

Written anew after its text and its published code: all thresholds that leave 50 values, Anderson and Darling's test by a
parametric bootstrap of 100, the lowest threshold that is accepted, a likelihood ratio against the exponential for
positive shapes, and the quantile of the tail alone, taken at its word as the bound. It extends the sample where it does
not converge; here both methods have the same values, as a test has that was run so often."""

from collections.abc import Iterable, Mapping

import numpy as np
from scipy import stats

from analytics.kernel.executions import Floats
from analytics.kernel.tails import pareto
from analytics.kernel.tails.box_cox import box_cox_of
from bench.bounds.distributions import LIGHT, drawn
from bench.bounds.promises import bounds_of, kept
from bench.outcome import Outcome
from bench.parallel import each

SAMPLES = 300
SIZE, TOLERATED = 100, 1e-3
LEAST_EXCEEDANCES = 50
BOOTSTRAPS = 100
_GRID = np.concatenate([-np.geomspace(300, 1e-3, 60), [1e-9], 1 - np.geomspace(0.999, 1e-3, 60)])
NAMES = (*LIGHT, "t(5)", "t(3)", "Cauchy")
WHOSE = ("published", "ours")
FIGURES = (
    "bounds that keep it",
    "failures to those promised, median",
    "failures to those promised, 95th percentile",
    "samples without a bound",
)
_EVERY = 5
"""Thresholds that differ by fewer values say the same."""


def most_likely(samples: Floats) -> tuple[Floats, Floats]:
    """Shape and scale of greatest likelihood for each row, from a fine grid of the one parameter of its profile."""
    largest = samples.max(axis=1)
    y = samples / largest[:, None]
    k = pareto.mean_logs(np.broadcast_to(_GRID, (len(y), len(_GRID))), y)
    likelihood = np.where(k > -1, np.log(-_GRID / k) - k - 1, -np.inf)
    best = likelihood.argmax(axis=1)
    shape = k[np.arange(len(k)), best]
    return shape, -shape / _GRID[best] * largest


def tail_bound(values: Floats, tolerated: float, seed: int) -> float | None:
    """The bound of the lowest threshold whose tail is accepted; None if it is heavy or none is accepted."""
    ordered = np.sort(values)
    draw = np.random.default_rng(seed)
    found: tuple[float, float, float, int] | None = None
    for above in range(LEAST_EXCEEDANCES, len(ordered), _EVERY):
        threshold = float(ordered[-above - 1])
        y = ordered[-above:] - threshold
        y = y[y > 0]
        if len(y) < LEAST_EXCEEDANCES:
            continue
        shape, scale = (float(column[0]) for column in most_likely(y[None, :]))
        if _chance(y, shape, scale, draw) > 0.05:
            found = (threshold, shape, scale, above)
    if found is None:
        return None
    threshold, shape, scale, above = found
    y = ordered[-above:] - threshold
    if shape > 0 and _is_heavy(y, shape, scale):
        return None
    return threshold + float(pareto.quantile(tolerated, shape, scale))


def _chance(y: Floats, shape: float, scale: float, draw: np.random.Generator) -> float:
    distance = pareto.anderson_darling(y, shape, scale)
    samples = pareto.excess(draw.exponential(size=(BOOTSTRAPS, len(y))), shape, scale)
    return float((distances(samples, *most_likely(samples)) >= distance).mean())


def distances(samples: Floats, shape: Floats, scale: Floats) -> Floats:
    """Anderson and Darling's distance of each row from its own distribution."""
    above = pareto.log_survival(np.sort(samples, axis=1), shape[:, None], scale[:, None])
    above = np.clip(above, np.log(np.finfo(float).tiny), -np.finfo(float).eps)
    size = samples.shape[1]
    weights = 2 * np.arange(1, size + 1) - 1
    return np.asarray(-size - (weights * (np.log(-np.expm1(above)) + above[:, ::-1])).mean(axis=1))


def _is_heavy(y: Floats, shape: float, scale: float) -> bool:
    """The likelihood ratio against the exponential distribution, at 5 %."""
    own = stats.genpareto.logpdf(y, shape, scale=scale).sum()
    plain = stats.expon.logpdf(y, scale=y.mean()).sum()
    return bool(2 * (own - plain) > stats.chi2.isf(0.05, 1))


def bound_of(values: Floats, tolerated: float, seed: int = 0) -> float | None:
    """On the values, else on their Box-Cox transforms."""
    bound = tail_bound(values, tolerated, seed)
    box_cox = box_cox_of(np.sort(values)) if bound is None else None
    if bound is not None or box_cox is None:
        return bound
    turned = tail_bound(box_cox.turn(values), tolerated, seed)
    return None if turned is None else box_cox.turn_back(turned)


def run(samples: int = SAMPLES) -> Iterable[Outcome]:
    cells = [(name, samples) for name in NAMES]
    for outcomes in each(outcomes_of, cells):
        yield from outcomes


def outcomes_of(cell: tuple[str, int]) -> list[Outcome]:
    name, samples = cell
    values = drawn(name, samples, SIZE, seed=2)
    theirs = kept(name, [bound_of(row, TOLERATED, seed) for seed, row in enumerate(values)], TOLERATED)
    ours = kept(name, bounds_of(values, (TOLERATED,))[0], TOLERATED)
    about, outcomes = _about(name), []
    for whose, found in zip(WHOSE, (theirs, ours), strict=True):
        measured = (found.coverage, found.median, found.worst, found.without)
        outcomes += [Outcome(f"{about}, {whose}: {what}", value) for what, value in zip(FIGURES, measured, strict=True)]
    if name in LIGHT:
        outcomes.append(Outcome(f"{about}: kept more often by ours, by", ours.coverage - theirs.coverage, least=0))
    return outcomes


def table(figures: Mapping[str, float]) -> list[str]:
    """For docs/accuracy.md."""
    lines = [
        "| values | published: kept | median | p95 | ours: kept | median | p95 | none: published, ours |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for name in NAMES:
        theirs, ours = ([figures[f"{_about(name)}, {whose}: {what}"] for what in FIGURES] for whose in WHOSE)
        cells = [f"{kept:.2f} | {median:.1f} | {worst:.1f}" for kept, median, worst, _ in (theirs, ours)]
        lines.append(f"| {name} | {' | '.join(cells)} | {theirs[3]:.0%}, {ours[3]:.0%} |".replace("%", " %"))
    return lines


def _about(name: str) -> str:
    return f"{name}, {SIZE} values, 1 in {1 / TOLERATED:,.0f}"
