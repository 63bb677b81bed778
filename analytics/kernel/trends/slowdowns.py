"""Since when a test takes longer, or less long, than before. See docs/concepts.md#slower-and-faster-tests."""

from dataclasses import dataclass

import numpy as np
import scipy

from analytics.kernel.executions import Flags, Floats, Ints
from analytics.kernel.parameters import DEFAULTS, Parameters

LEAST_EXECUTIONS = 20
"""Fewer timed executions than this are not enough data."""
LEAST_ON_A_SIDE = 5
"""A change is looked for where at least so many executions are before and after it."""
LEAST_TESTS = 10
"""From so many tests on their median says how fast a machine was; of fewer it would hide their own changes."""
_SHORTEST = 0.001


@dataclass(frozen=True, slots=True)
class DurationChanges:
    """A row for each test of which a change is shown, the largest first."""

    test: Ints
    report: Ints
    """The most likely first report after the change."""
    before: Floats
    after: Floats
    """Median seconds."""
    ratio: Floats
    low: Floats
    high: Floats
    """after / before with its interval, each kind of run and the speed of machines allowed for."""
    p_value: Floats
    """Corrected for the number of tests."""
    tested: int
    """Tests with enough executions to tell."""

    def __len__(self) -> int:
        return len(self.test)


def duration_changes(seconds: Floats, kind: Ints, parameters: Parameters = DEFAULTS) -> DurationChanges:
    """From seconds by report and test, NaN where not known, and the kind of run by report; reports by time.

    One change a test, by Pettitt's test (1979) on ranks, corrected over tests by Benjamini and Hochberg."""
    relative = without_machines(seconds, kind)
    tested = np.flatnonzero(np.count_nonzero(np.isfinite(relative), axis=0) >= LEAST_EXECUTIONS)
    found = [_pettitt(relative[:, test]) for test in tested.tolist()]
    p_values = np.array([p_value for _, p_value in found], dtype=np.float64)
    adjusted = scipy.stats.false_discovery_control(p_values) if len(p_values) else p_values
    rows = []
    for test, (report, _), p_value in zip(tested.tolist(), found, adjusted.tolist(), strict=True):
        if p_value < parameters.significance:
            row = (test, report, *_sizes(seconds[:, test], relative[:, test], report, parameters), p_value)
            if abs(np.log(row[4])) >= np.log1p(parameters.duration_change):
                rows.append(row)
    rows.sort(key=lambda row: -abs(row[3] - row[2]))
    table = np.array(rows, dtype=np.float64).reshape(len(rows), 8)
    return DurationChanges(
        test=table[:, 0].astype(np.int64),
        report=table[:, 1].astype(np.int64),
        before=table[:, 2],
        after=table[:, 3],
        ratio=table[:, 4],
        low=table[:, 5],
        high=table[:, 6],
        p_value=table[:, 7],
        tested=len(tested),
    )


def without_machines(seconds: Floats, kind: Ints) -> Floats:
    """Log seconds without what kinds of runs and fast or slow machines make of them: medians taken away in turn."""
    logs = np.log(np.maximum(seconds, _SHORTEST))
    relative = np.full(logs.shape, np.nan)
    for which in np.unique(kind).tolist():
        rows = np.flatnonzero(kind == which)
        if len(rows) >= 2 * LEAST_ON_A_SIDE:
            relative[rows] = logs[rows] - _median(logs[rows], axis=0)
    many = np.count_nonzero(np.isfinite(relative), axis=1) >= LEAST_TESTS
    relative[many] -= _median(relative[many], axis=1)[:, None]
    return relative


def _median(values: Floats, axis: int) -> Floats:
    """Without a warning where all are unknown."""
    known: Flags = np.asarray(np.isfinite(values).any(axis=axis))
    filled = np.where(np.expand_dims(known, axis), values, 0.0)
    return np.where(known, np.nanmedian(filled, axis=axis), np.nan) if values.size else np.zeros(len(known))


def _pettitt(values: Floats) -> tuple[int, float]:
    """The report before which ranks differ most from those after it, and the chance of such a difference."""
    reports = np.flatnonzero(np.isfinite(values))
    n = len(reports)
    ranks = _ranks(values[reports])
    split = np.arange(1, n)
    statistic = np.abs(2 * np.cumsum(ranks)[:-1] - split * (n + 1))
    inside = slice(LEAST_ON_A_SIDE - 1, n - LEAST_ON_A_SIDE)
    at = int(np.argmax(statistic[inside])) + LEAST_ON_A_SIDE
    highest = float(statistic[at - 1])
    return int(reports[at]), min(1.0, float(2 * np.exp(-6 * highest**2 / (n**3 + n**2))))


def _ranks(values: Floats) -> Floats:
    """From 1; equal values share the mean of theirs. As scipy's, which takes ten times as long for a few hundred."""
    ordered = np.sort(values)
    return np.asarray((np.searchsorted(ordered, values) + np.searchsorted(ordered, values, side="right") + 1) / 2)


def _sizes(
    seconds: Floats, relative: Floats, report: int, parameters: Parameters
) -> tuple[float, float, float, float, float]:
    """Medians before and after, and their ratio by Hodges and Lehmann's shift of logs with its interval."""
    known = np.isfinite(relative)
    earlier, later = known.copy(), known.copy()
    earlier[report:], later[:report] = False, False
    shifts = np.sort(np.subtract.outer(relative[later], relative[earlier]), axis=None)
    pairs, both = len(shifts), np.count_nonzero(known)
    z = float(scipy.stats.norm.ppf((1 + parameters.confidence) / 2))
    rank = int(max(pairs / 2 - z * np.sqrt(pairs * (both + 1) / 12), 0))
    ends = (float(np.median(shifts)), float(shifts[rank]), float(shifts[pairs - 1 - rank]))
    ratio, low, high = (float(np.exp(value)) for value in ends)
    return float(np.median(seconds[earlier])), float(np.median(seconds[later])), ratio, low, high
