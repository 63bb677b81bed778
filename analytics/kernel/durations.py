"""Whether failing executions take longer or shorter than passing ones, and what that says about the cause.

See docs/concepts.md#durations-compared."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
import numpy.typing as npt
import scipy

from analytics.kernel.executions import Executions, Floats, Ints
from analytics.kernel.parameters import DEFAULTS, Parameters
from analytics.kernel.parts import ChosenTests, Part, by_part

ROUND_SECONDS = (1.0, 5.0, 10.0, 25.0, 30.0, 60.0)
"""Typical timeouts: our choice. That longer or shorter failing times reveal the kind is from Lam8, 8.3.4."""
_ROUND = np.array(ROUND_SECONDS)


class Hint(StrEnum):
    NONE = ""
    TIMEOUT = "fails near a round number of seconds: a timeout"
    SLOW = "fails much slower than it passes: a timeout or an async wait"
    EARLY = "fails much faster than it passes: an early crash"


HINTS = tuple(Hint)


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


@dataclass(frozen=True, slots=True)
class DurationVerdicts(Mapping[int, DurationVerdict]):
    """A row for each test that has both, by number."""

    test: Ints
    passing: Floats
    failing: Floats
    ratio: Floats
    p_value: Floats
    near: Floats
    hint: Ints
    """Its place among `HINTS`."""

    def __len__(self) -> int:
        return len(self.test)

    def __iter__(self) -> Iterator[int]:
        return iter(self.test.tolist())

    def __getitem__(self, test: int) -> DurationVerdict:
        row = int(np.searchsorted(self.test, test))
        if row == len(self.test) or self.test[row] != test:
            raise KeyError(test)
        return DurationVerdict(
            passing=float(self.passing[row]),
            failing=float(self.failing[row]),
            ratio=float(self.ratio[row]),
            p_value=float(self.p_value[row]),
            near=float(self.near[row]),
            hint=HINTS[self.hint[row]],
        )


def compare_all(
    executions: Executions | ChosenTests, floor: float = DEFAULTS.duration_floor, parameters: Parameters = DEFAULTS
) -> DurationVerdicts:
    """Compare passing and failing executions of every test that has both with a known duration.

    A difference below `floor` seconds gives no hint."""
    return by_part(executions, lambda part: _compare(part, floor, parameters))


def _compare(part: Part, floor: float, parameters: Parameters) -> DurationVerdicts:
    ran = part.executions.where(part.executions.executed & np.isfinite(part.executions.duration))
    failing = ran.failing
    group = 2 * ran.test.astype(np.int64) + failing
    seconds = _by_group(group, ran.duration)
    ends = np.concatenate([[0], np.cumsum(np.bincount(group, minlength=2 * ran.tests))])
    size = np.diff(ends)
    test = np.flatnonzero((size[::2] > 0) & (size[1::2] > 0))
    usual, unusual = (_medians(seconds, ends, 2 * test + outcome) for outcome in (0, 1))
    good, bad = (
        [slice(*bounds) for bounds in zip(ends[groups].tolist(), ends[groups + 1].tolist(), strict=True)]
        for groups in (2 * test, 2 * test + 1)
    )
    near = np.full(len(test), np.nan)
    longest = seconds[ends[2 * test + 2] - 1] if len(test) else near
    often = np.minimum(size[2 * test], size[2 * test + 1])
    for row in np.flatnonzero((size[2 * test + 1] >= parameters.few_failures) & (longest >= ROUND_SECONDS[0])).tolist():
        near[row] = _round_number(seconds[bad[row]].astype(np.float64))
    ratio = np.divide(unusual, usual, out=np.full(len(test), np.nan), where=usual > 0)
    matters = np.abs(unusual - usual) >= floor
    slower, faster = ratio >= parameters.much_slower, ratio <= 1 / parameters.much_slower
    p_value = np.full(len(test), np.nan)
    for row in np.flatnonzero(matters & (slower | faster) & (often >= parameters.few_failures)).tolist():
        samples = (seconds[rows[row]].astype(np.float64) for rows in (bad, good))
        p_value[row] = scipy.stats.mannwhitneyu(*samples, method="asymptotic").pvalue
    differ = p_value < parameters.significance
    hint = np.select(
        [matters & (usual < 0.9 * near), differ & slower, differ & faster],
        [HINTS.index(each) for each in (Hint.TIMEOUT, Hint.SLOW, Hint.EARLY)],
        HINTS.index(Hint.NONE),
    )
    return DurationVerdicts(test + part.first, usual, unusual, ratio, p_value, near, hint)


def _by_group(group: Ints, seconds: npt.NDArray[np.floating]) -> npt.NDArray[np.float32]:
    """Seconds, none below zero, in order of group and size. Both are sorted as one number: the bits of such floats
    are in the order of their values."""
    bits = np.maximum(seconds, 0).astype(np.float32).view(np.uint32)
    both = group.astype(np.uint64) << np.uint64(32) | bits
    both.sort()
    return np.asarray(both.astype(np.uint32).view(np.float32))


def _medians(seconds: npt.NDArray[np.float32], ends: Ints, group: Ints) -> Floats:
    """Of groups that are not empty."""
    size = ends[group + 1] - ends[group]
    low, high = (seconds[ends[group] + (size - offset) // 2].astype(np.float64) for offset in (1, 0))
    return np.asarray((low + high) / 2)


def _round_number(failing: Floats) -> float:
    """The round number just below most failures: a timeout ends at its time or a little after."""
    near = (failing[:, None] >= _ROUND) & (failing[:, None] <= _ROUND * 1.05)
    most = np.flatnonzero(2 * near.sum(axis=0) > len(failing))
    return ROUND_SECONDS[most[0]] if len(most) else float("nan")
