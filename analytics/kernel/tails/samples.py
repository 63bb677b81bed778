"""The values of an assertion as the fit wants them: finite, of one size, discrete ones spread over their steps."""

import hashlib
from dataclasses import dataclass

import numpy as np

from analytics.kernel.executions import Floats
from analytics.kernel.tails.parameters import FEW_DISTINCT, GRID_SHARE, LEAST_VALUES, SAME

NOT_FINITE = "not finite"
TOO_FEW = "too few"
CONSTANT = "constant"
_WHOLE = 1e-6
"""Steps of a grid may be off by this part of one."""


@dataclass(frozen=True, slots=True)
class Sample:
    """Values of which large ones fail, divided by `unit`, and what they are."""

    values: Floats
    """Sorted; as they were, divided by the unit."""
    unit: float
    """A power of two, so that nothing is lost and nothing overflows."""
    step: float
    """Of the grid that discrete values lie on; 0 if they are not discrete."""
    seed: int
    """A digest of the values: the same values give the same answer."""

    @property
    def n(self) -> int:
        return len(self.values)

    def spread(self) -> Floats:
        """Discrete values with noise of half a step, others as they are."""
        if self.step == 0:
            return self.values
        noise = np.random.default_rng([self.seed, 1]).uniform(-0.5, 0.5, self.n)
        return np.sort(self.values + noise * self.step)


def obstacle(values: Floats, bound: float | None) -> str:
    """Why nothing can be said of these values beyond counting; empty if something can."""
    if not np.isfinite(values).all():
        return NOT_FINITE
    if len(values) < LEAST_VALUES:
        return TOO_FEW
    return CONSTANT if is_constant(values, bound) else ""


def is_constant(values: Floats, bound: float | None = None) -> bool:
    """Whether the values are one value, compared with their size and with the bound's."""
    low, high = float(values.min()) / 4, float(values.max()) / 4
    size = max(abs(low), abs(high), abs(bound or 0.0) / 4)
    return high - low <= SAME * size


def sample_of(values: Floats) -> Sample:
    ordered = np.sort(values) + 0.0  # -0.0 and 0.0 are one value
    largest = float(np.abs(ordered[[0, -1]]).max())
    unit = float(np.ldexp(1.0, min(int(np.frexp(largest)[1]), 1023)))
    digest = hashlib.sha256(ordered.astype("<f8").tobytes()).digest()
    scaled = ordered / unit
    return Sample(scaled, unit, _step(scaled), int.from_bytes(digest[:8], "big"))


def _step(values: Floats) -> float:
    """The step of discrete values, or 0."""
    gaps = np.diff(np.unique(values))
    gaps = gaps[gaps > 1e-9 * (values[-1] - values[0])]  # closer ones are one value, written by other arithmetic
    distinct = len(gaps) + 1
    if distinct == 1:
        return 0.0
    step = float(gaps.min())
    if distinct < FEW_DISTINCT:
        return step
    off = np.abs(gaps / step - np.round(gaps / step))
    return step if distinct < GRID_SHARE * len(values) and bool((off < _WHOLE).all()) else 0.0
