"""How often a given bound fails: whether the interval holds the truth as often as it says."""

from collections.abc import Iterable

import numpy as np

from analytics.kernel.tails.answers import Question, answer
from bench.bounds.distributions import LIGHT, drawn
from bench.outcome import Outcome

SAMPLES = 300
NAMES = ("normal", "exponential", "uniform", "gamma(2)")
SIZES = (100, 500)
SHARES = (0.05, 0.01, 0.001)


def coverage(name: str, size: int, share: float, samples: int = SAMPLES) -> float:
    bound = float(LIGHT[name].isf(share))
    found = [answer(values, Question("<", bound)).present for values in drawn(name, samples, size, seed=1)]
    return float(np.mean([each is not None and each.low <= share <= each.high for each in found]))


def run(samples: int = SAMPLES) -> Iterable[Outcome]:
    for name in NAMES:
        for size in SIZES:
            for share in SHARES:
                about = f"{name}, {size} values, fails in {share:.1%}: intervals that hold it"
                yield Outcome(about, coverage(name, size, share, samples), least=0.88)
