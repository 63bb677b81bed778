"""Whether failing executions take longer or shorter than passing ones, and what that says about the cause.

See docs/concepts.md#durations-compared."""

from dataclasses import dataclass
from enum import StrEnum

import numpy as np
import numpy.typing as npt
import scipy

from analytics.kernel.executions import Executions, Floats, Ints
from analytics.kernel.parameters import DEFAULTS, Parameters

ROUND_SECONDS = (1.0, 5.0, 10.0, 25.0, 30.0, 60.0)
"""Typical timeouts: our choice. That longer or shorter failing times reveal the kind is from Lam8, 8.3.4."""
_ROUND = np.array(ROUND_SECONDS)


class Hint(StrEnum):
    NONE = ""
    TIMEOUT = "fails near a round number of seconds: a timeout"
    SLOW = "fails much slower than it passes: a timeout or an async wait"
    EARLY = "fails much faster than it passes: an early crash"


@dataclass(frozen=True, slots=True)
class DurationVerdict:
    passing: float
    failing: float
    """Median seconds."""
    ratio: float
    p_value: float
    """Of "they take the same time" (Mann-Whitney), tested if the medians are far apart; NaN otherwise."""
    near: float
    """The round number of seconds after which most failures end; NaN for none."""
    hint: Hint


def duration_floor(seconds: Floats, parameters: Parameters = DEFAULTS) -> float:
    """The smallest difference that counts, from the mean `seconds` of each test (NaN if unknown)."""
    known = seconds[np.isfinite(seconds)]
    usual = float(np.median(known)) if len(known) else 0.0
    return max(parameters.duration_floor, parameters.duration_floor_share * usual)


def compare_all(
    executions: Executions, floor: float = DEFAULTS.duration_floor, parameters: Parameters = DEFAULTS
) -> dict[int, DurationVerdict]:
    """Compare passing and failing executions of every test that has both with a known duration.

    Medians of all tests are computed at once; a difference below `floor` seconds gives no hint."""
    ran = executions.where(executions.executed & np.isfinite(executions.duration))
    failing = ran.failing
    group = 2 * ran.test.astype(np.int64) + failing
    seconds = _by_group(group, ran.duration)
    ends = np.concatenate([[0], np.cumsum(np.bincount(group, minlength=2 * ran.tests))])
    size = np.diff(ends)
    last = max(len(seconds) - 1, 0)
    low, high = (np.minimum(ends[:-1] + np.maximum(size - offset, 0) // 2, last) for offset in (1, 0))
    middle = (seconds[low] + seconds[high]) / 2 if len(seconds) else np.zeros(len(size))
    found = {}
    for place in np.flatnonzero((size[::2] > 0) & (size[1::2] > 0)).tolist():
        good, bad = (slice(ends[group], ends[group + 1]) for group in (2 * place, 2 * place + 1))
        usual, unusual = float(middle[2 * place]), float(middle[2 * place + 1])
        found[place] = _compared(seconds[good], seconds[bad], usual, unusual, floor, parameters)
    return found


def _by_group(group: Ints, seconds: npt.NDArray[np.floating]) -> Floats:
    """Seconds, none below zero, in order of group and size. Both are sorted as one number: the bits of such floats
    are in the order of their values."""
    bits = np.maximum(seconds, 0).astype(np.float32).view(np.uint32)
    both = group.astype(np.uint64) << np.uint64(32) | bits
    both.sort()
    return np.asarray(both.astype(np.uint32).view(np.float32), dtype=np.float64)


def _compared(
    good: Floats, bad: Floats, usual: float, unusual: float, floor: float, parameters: Parameters
) -> DurationVerdict:
    """Compare one test's passing and failing seconds, neither empty, with their medians."""
    near = _round_number(bad, parameters)
    ratio = unusual / usual if usual > 0 else float("nan")
    matters = abs(unusual - usual) >= floor
    apart = matters and (ratio >= parameters.much_slower or ratio <= 1 / parameters.much_slower)
    enough = apart and min(len(good), len(bad)) >= parameters.few_failures
    p_value = float(scipy.stats.mannwhitneyu(bad, good, method="asymptotic").pvalue) if enough else float("nan")
    differ = enough and p_value < parameters.significance
    hint = Hint.NONE
    if matters and near == near and usual < 0.9 * near:
        hint = Hint.TIMEOUT
    elif differ and ratio >= parameters.much_slower:
        hint = Hint.SLOW
    elif differ and ratio <= 1 / parameters.much_slower:
        hint = Hint.EARLY
    return DurationVerdict(usual, unusual, ratio, p_value, near, hint)


def _round_number(failing: Floats, parameters: Parameters) -> float:
    """The round number just below most failures: a timeout ends at its time or a little after."""
    if len(failing) < parameters.few_failures or failing.max() < ROUND_SECONDS[0]:
        return float("nan")
    near = (failing[:, None] >= _ROUND) & (failing[:, None] <= _ROUND * 1.05)
    most = np.flatnonzero(2 * near.sum(axis=0) > len(failing))
    return ROUND_SECONDS[most[0]] if len(most) else float("nan")
