"""How good scores are, against what the tests are."""

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]


def average_precision(score: Floats, flaky: Flags) -> float:
    """The precision at every recall, on average; equal scores count at once. Chance is the share of flaky tests."""
    order = np.argsort(-score, kind="stable")
    ranked, right = score[order], np.cumsum(flaky[order])
    last = np.append(ranked[1:] != ranked[:-1], True)
    precision = right[last] / (np.flatnonzero(last) + 1)
    recall = right[last] / max(int(flaky.sum()), 1)
    return float(np.sum(np.diff(recall, prepend=0.0) * precision))


def precision(predicted: Flags, flaky: Flags) -> float:
    """Of those predicted, the share that is flaky; NaN where nothing is predicted."""
    return float(flaky[predicted].mean()) if predicted.any() else float("nan")


def recall(predicted: Flags, flaky: Flags) -> float:
    return float(predicted[flaky].mean())
