"""All that is said about the values of one assertion: how often its bound fails, and which bounds fail how seldom."""

from dataclasses import dataclass

import numpy as np

from analytics.kernel.executions import Floats
from analytics.kernel.tails.bounds import Extrapolation, Rung, extrapolate
from analytics.kernel.tails.failures import FailureShare, count_failures, estimate_failures
from analytics.kernel.tails.parameters import CONFIDENCE, TOLERATED
from analytics.kernel.tails.samples import NOT_FINITE, Sample, obstacle, sample_of

LADDER = (0.1, 0.01, 0.001, 0.0001)
CURVE_POINTS = 60
_WIDE = 100.0
"""A curve that ends so many times as far out as it begins has its points at equal ratios."""


@dataclass(frozen=True, slots=True)
class Question:
    """An assertion: `x < bound`, `x <= bound`, `x > bound` or `x >= bound`."""

    op: str
    bound: float
    tolerated: float = TOLERATED

    @property
    def is_lower(self) -> bool:
        return self.op.startswith(">")

    @property
    def is_strict(self) -> bool:
        return not self.op.endswith("=")

    @property
    def sign(self) -> float:
        return -1.0 if self.is_lower else 1.0


@dataclass(frozen=True, slots=True)
class Curve:
    """The fitted tail: at each value the probability of one beyond it, with its band."""

    x: Floats
    share: Floats
    low: Floats
    high: Floats


@dataclass(frozen=True, slots=True)
class Answer:
    n: int
    obstacle: str
    """`not finite`, `too few`, `constant`, or empty."""
    not_finite: int
    kind: str
    """`light`, `bounded`, `wide`, `heavy`, `no fit`; empty with an obstacle."""
    is_discrete: bool
    present: FailureShare | None
    """None where the values or the bound are not finite."""
    wanted: Rung | None
    ladder: tuple[Rung, ...]
    extreme: float | None
    """The value nearest to failing, or farthest beyond the bound."""
    median: float | None
    proven: float
    """So many runs without a value beyond the extreme: no more than this share of runs lies beyond it."""
    curve: Curve | None

    @property
    def is_precise(self) -> bool:
        """Whether the bound is at most 1.5 times as far from the median as the point estimate: no more runs needed."""
        rung = self.wanted
        if rung is None or rung.bound is None or rung.estimate is None or self.median is None:
            return False
        return abs(rung.bound - self.median) <= 1.5 * abs(rung.estimate - self.median)


def answer(values: Floats, question: Question) -> Answer:
    values = np.asarray(values, dtype=np.float64)
    finite = np.isfinite(values)
    bound = question.bound
    hindrance = obstacle(values, bound if np.isfinite(bound) else None) if len(values) else "too few"
    if hindrance:
        return _without_fit(values, question, hindrance, int((~finite).sum()))
    signed = question.sign * values
    sample = sample_of(signed)
    found = extrapolate(sample)
    outwards = _Outwards(sample, question)
    present = None
    if np.isfinite(bound):
        present = estimate_failures(found, question.sign * bound / sample.unit, question.is_strict)
    ladder = tuple(outwards.rung(found.rung(tolerated)) for tolerated in LADDER)
    return Answer(
        n=len(values),
        obstacle="",
        not_finite=0,
        kind=found.kind,
        is_discrete=sample.step > 0,
        present=present,
        wanted=outwards.rung(found.rung(question.tolerated)),
        ladder=ladder,
        extreme=question.sign * float(signed.max()),
        median=float(np.median(values / 2) * 2),
        proven=1 - (1 - CONFIDENCE) ** (1 / len(values)),
        curve=_curve(found, question, sample, ladder),
    )


def _without_fit(values: Floats, question: Question, hindrance: str, not_finite: int) -> Answer:
    n = len(values)
    present = None
    if n and hindrance != NOT_FINITE and np.isfinite(question.bound):
        present = count_failures(question.sign * values, question.sign * question.bound, question.is_strict)
    known = n > 0 and not_finite == 0
    return Answer(
        n=n,
        obstacle=hindrance,
        not_finite=not_finite,
        kind="",
        is_discrete=False,
        present=present,
        wanted=None,
        ladder=(),
        extreme=question.sign * float((question.sign * values).max()) if known else None,
        median=float(np.median(values / 2) * 2) if known else None,
        proven=1 - (1 - CONFIDENCE) ** (1 / n) if n else 1.0,
        curve=None,
    )


@dataclass(frozen=True, slots=True)
class _Outwards:
    """Bounds of the scaled sample as people write them: in their own unit, on their own side, on the values' grid."""

    sample: Sample
    question: Question

    def rung(self, rung: Rung) -> Rung:
        if rung.bound is None:
            return rung
        bound = self._own(self._on_grid(rung.bound))
        if not np.isfinite(bound):
            return Rung(rung.tolerated, None, None, "heavy")
        estimate = None if rung.estimate is None else self._own(rung.estimate)
        return Rung(rung.tolerated, bound, estimate if estimate is not None and np.isfinite(estimate) else None)

    def _on_grid(self, bound: float) -> float:
        """A value equal to a bound of `<` fails, so that such a bound lies half a step farther out."""
        step = self.sample.step
        if step == 0:
            return bound
        origin = float(self.sample.values[-1])
        half = 0.5 if self.question.is_strict else -0.5
        return origin + float(np.ceil((bound - origin) / step + half - 1e-9)) * step

    def _own(self, x: float) -> float:
        with np.errstate(over="ignore"):
            return float(np.float64(self.question.sign * x) * self.sample.unit)


def _curve(found: Extrapolation, question: Question, sample: Sample, ladder: tuple[Rung, ...]) -> Curve | None:
    """From the threshold to the farthest bound, by the fit of the values themselves; None where no float holds them."""
    tail = found.tail
    if tail is None:
        return None
    ends = [question.sign * rung.bound / sample.unit for rung in ladder if rung.bound is not None]
    end = max([float(sample.values[-1]), *ends])
    is_wide = tail.threshold > 0 and end > _WIDE * tail.threshold
    x = (np.geomspace if is_wide else np.linspace)(tail.threshold, end, CURVE_POINTS)
    with np.errstate(over="ignore"):
        own_x = question.sign * x * sample.unit
    if not np.isfinite(own_x).all():
        return None
    shares = np.stack([tail.shares_beyond(float(each)) for each in x])
    low, high = np.quantile(shares, ((1 - CONFIDENCE) / 2, (1 + CONFIDENCE) / 2), axis=1)
    own = np.array([tail.share_beyond(float(each)) for each in x])
    return Curve(own_x, own, low, high)
