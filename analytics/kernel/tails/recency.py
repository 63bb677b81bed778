"""Which values of a series still count: those since the last change of what is tested."""

import numpy as np
import scipy

from analytics.kernel.executions import Floats
from analytics.kernel.tails.parameters import CHANGED

_LEAST_HALF = 10


def start_of_current(values: Floats) -> int:
    """The place from which the values count: the middle where the newer half differs from the older one, else 0.

    Two-sample test of Kolmogorov and Smirnov."""
    half = len(values) // 2
    older, newer = values[:half], values[half:]
    if half < _LEAST_HALF or not (np.isfinite(older).all() and np.isfinite(newer).all()):
        return 0
    return half if scipy.stats.ks_2samp(older, newer, method="asymp").pvalue < CHANGED else 0
