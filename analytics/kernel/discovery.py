"""Many hypotheses at once: which are kept at a false discovery rate."""

import numpy as np
import numpy.typing as npt

from analytics.kernel.executions import Flags


def benjamini_hochberg(p_value: npt.NDArray[np.floating], hypotheses: int, level: float) -> Flags:
    """Which of the p-values are rejected among `hypotheses`, the others having p = 1 (Benjamini and Hochberg 1995)."""
    order = np.argsort(p_value, kind="stable")
    allowed = level * np.arange(1, len(order) + 1) / max(hypotheses, 1)
    good = np.flatnonzero(p_value[order] <= allowed)
    rejected = np.zeros(len(order), dtype=bool)
    if len(good):
        rejected[order[: good[-1] + 1]] = True
    return rejected
