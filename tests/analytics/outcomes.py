"""Executions from a table that fits into a test."""

import numpy as np
import numpy.typing as npt

from analytics.kernel.executions import Executions


def of_matrix(outcomes: npt.NDArray[np.integer]) -> Executions:
    """Executions of a tests x reports matrix of verdicts, negative where a test is absent; one attempt each."""
    test, report = np.nonzero(outcomes >= 0)
    return Executions(
        tests=outcomes.shape[0],
        test=test,
        report=report,
        verdict=outcomes[test, report],
        ordinal=np.zeros(len(test), dtype=np.int16),
        duration=np.full(len(test), np.nan, dtype=np.float32),
    )
