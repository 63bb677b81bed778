"""Distributions of values, with their true tails."""

from typing import Any

import numpy as np
from scipy import stats

from analytics.kernel.executions import Floats

LIGHT: dict[str, Any] = {
    "normal": stats.norm(),
    "half-normal": stats.halfnorm(),
    "exponential": stats.expon(),
    "uniform": stats.uniform(),
    "beta(2,5)": stats.beta(2, 5),
    "gamma(2)": stats.gamma(2),
    "logistic": stats.logistic(),
    "lognormal(0.5)": stats.lognorm(0.5),
    "t(10)": stats.t(10),
}
HEAVIER: dict[str, Any] = {
    "t(5)": stats.t(5),
    "t(3)": stats.t(3),
    "Cauchy": stats.cauchy(),
    "half-Cauchy": stats.halfcauchy(),
    "Pareto(2)": stats.pareto(2),
}
ALL = {**LIGHT, **HEAVIER}


def drawn(name: str, samples: int, size: int, seed: int = 0) -> Floats:
    """Samples of a distribution, the same in every run."""
    draw = np.random.default_rng([seed, size, *name.encode()])
    return np.asarray(ALL[name].ppf(draw.uniform(size=(samples, size))))
