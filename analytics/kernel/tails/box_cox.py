"""Box and Cox' transformation, which makes heavy tails light enough for a fit: (x^power - 1) / power.

The power is the one of greatest likelihood; all is computed from logarithms, so that values may span any sizes."""

from dataclasses import dataclass

import numpy as np
import scipy

from analytics.kernel.executions import Floats

_LARGEST_POWER = 10.0
_LARGEST_EXPONENT = 300.0
_SIGNIFICANT = 1.92
"""Half of the 5 % point of chi-squared with one degree of freedom."""


@dataclass(frozen=True, slots=True)
class BoxCox:
    power: float
    centre: float
    """Mean of the logarithms: the transformation is of x / e^centre, which changes the result by a factor alone."""
    sign: float
    """Of all values."""
    is_heavy: bool
    """The power is negative, at 5 % by the ratio of likelihoods: x grows without limit where z does not, as a power of
    what is left of z. No bound of such values is safe."""

    def turn(self, x: Floats) -> Floats:
        """Grows with x, also where all x are negative."""
        return self.sign * _turned(np.log(np.abs(x)) - self.centre, self.power)

    def turn_back(self, z: float) -> float | None:
        inner = self.power * z * self.sign
        if inner <= -1:
            return None
        exponent = np.log1p(inner) / self.power if self.power else z * self.sign
        with np.errstate(over="ignore"):
            found = self.sign * float(np.exp(exponent + self.centre))
        return found if np.isfinite(found) and found != 0 else None


def box_cox_of(x: Floats) -> BoxCox | None:
    """None where values have different signs or are 0."""
    if not (x[0] > 0 or x[-1] < 0):
        return None
    logs = np.log(np.abs(x))
    centre = float(logs.mean())
    logs = logs - centre
    widest = float(np.abs(logs).max())
    if widest == 0:
        return None
    limit = min(_LARGEST_POWER, _LARGEST_EXPONENT / widest)

    def loss(power: float) -> float:
        return len(x) * float(np.log(_turned(logs, power).std()))

    found = scipy.optimize.minimize_scalar(loss, bounds=(-limit, limit), method="bounded")
    power, is_positive = float(found.x), bool(x[0] > 0)
    is_heavy = is_positive and power < 0 and loss(0.0) - loss(power) > _SIGNIFICANT
    return BoxCox(power, centre, 1.0 if is_positive else -1.0, is_heavy)


def _turned(logs: Floats, power: float) -> Floats:
    return np.asarray(np.expm1(power * logs) / power if power else logs)
