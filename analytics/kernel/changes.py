"""Where a test's failure rate changed, and how precisely that is known. See docs/concepts.md#changes-of-a-rate."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import scipy

from analytics.kernel.executions import Executions, Flags, Floats, Ints
from analytics.kernel.parameters import DEFAULTS, Parameters

JEFFREYS = 0.5


@dataclass(frozen=True, slots=True)
class Changes:
    """A row for each change, by test and time. The rates are those since the previous change, and until the next."""

    test: Ints
    report: Ints
    """The most likely first report after the change."""
    low: Ints
    high: Ints
    """The first and the last report that it can be (a credible interval)."""
    failed_before: Ints
    executed_before: Ints
    failed_after: Ints
    executed_after: Ints
    bayes_factor: Floats
    """How many times likelier the outcomes are with a change here than without, allowing for bursts."""

    def __len__(self) -> int:
        return len(self.test)


@dataclass(frozen=True, slots=True)
class _Change:
    """A change within the trials from `start` to `stop`: which is the first after it."""

    start: int
    stop: int
    at: int
    low: int
    high: int
    bayes_factor: float


def changes(executions: Executions, revision: Ints, parameters: Parameters = DEFAULTS) -> Changes:
    """Where failure rates changed (`revision` by report, -1 where not known), by binary segmentation.

    Failures in a row must not look like a change. So they count once for each revision; and if failures still cluster
    on either side of a change, the outcomes count as the smaller number of independent ones that they are worth."""
    ran = executions.where(executions.executed)
    test, report, failing = ran.test, ran.report, ran.failing
    trial = _trials(test, revision[report], failing)
    enough = np.bincount(test[trial & failing], minlength=ran.tests) >= parameters.few_failures
    bounds = np.searchsorted(test, np.arange(ran.tests + 1))
    rows: list[_Row] = []
    for number in np.flatnonzero(enough).tolist():
        part = slice(bounds[number], bounds[number + 1])
        counted = trial[part]
        found = _segmented(failing[part][counted], parameters)
        rows += _rows(number, found, np.flatnonzero(counted), report[part], failing[part])
    return _columns(rows)


class _Row(NamedTuple):
    """A row of the result, its columns in the same order."""

    test: int
    report: int
    low: int
    high: int
    failed_before: int
    executed_before: int
    failed_after: int
    executed_after: int
    bayes_factor: float


def _columns(rows: list[_Row]) -> Changes:
    counts = np.array([row[:-1] for row in rows], dtype=np.int64).reshape(len(rows), len(_Row._fields) - 1)
    factors = np.array([row.bayes_factor for row in rows], dtype=np.float64)
    return Changes(**dict(zip(_Row._fields, counts.T, strict=False)), bayes_factor=factors)


def _trials(test: npt.NDArray[np.integer], revision: Ints, failing: Flags) -> Flags:
    """All but those failures that follow a failure of the same test at the same revision."""
    again = np.zeros(len(test), dtype=bool)
    again[1:] = failing[1:] & failing[:-1] & (test[1:] == test[:-1]) & (revision[1:] == revision[:-1])
    return ~again


def _rows(
    test: int, found: list[_Change], execution: Ints, report: npt.NDArray[np.integer], failing: Flags
) -> Iterator[_Row]:
    """Changes as reports, with executions and failures before and after; `execution` by trial."""
    edges = [0, *(int(execution[change.at]) for change in found), len(report)]
    for i, change in enumerate(found, 1):
        before, after = failing[edges[i - 1] : edges[i]], failing[edges[i] : edges[i + 1]]
        at, low, high = (int(report[execution[index]]) for index in (change.at, change.low, change.high))
        counts = (int(before.sum()), len(before), int(after.sum()), len(after))
        yield _Row(test, at, low, high, *counts, change.bayes_factor)


# -- one test ----------------------------------------------------------------------------------------------------


def _segmented(failing: Flags, parameters: Parameters) -> list[_Change]:
    """The changes of one test, ordered by time: find the clearest, then search both sides of it."""
    found: list[_Change] = []
    waiting = _change(failing, 0, len(failing), parameters)
    while waiting and len(found) < parameters.most_changes:
        clearest = max(waiting, key=lambda change: change.bayes_factor)
        waiting.remove(clearest)
        found.append(clearest)
        waiting += _change(failing, clearest.start, clearest.at, parameters)
        waiting += _change(failing, clearest.at, clearest.stop, parameters)
    return sorted(found, key=lambda change: change.at)


def _change(failing: Flags, start: int, stop: int, parameters: Parameters) -> list[_Change]:
    """The one change between these trials, or none; every split is as likely as any other beforehand."""
    part = failing[start:stop]
    if len(part) < 2 or _log_bayes_factor(gain := _gain(part, 1.0)) <= (least := np.log(parameters.bayes_factor)):
        return []
    gain = _gain(part, _worth(part, int(gain.argmax()) + 1))
    log_factor = _log_bayes_factor(gain)
    if log_factor <= least:
        return []
    known = np.cumsum(np.exp(gain - np.logaddexp.reduce(gain)))
    tail = (1 - parameters.confidence) / 2
    low, high = np.minimum(np.searchsorted(known, (tail, 1 - tail)), len(gain) - 1)
    first = start + 1
    factor = float(np.exp(min(log_factor, 700.0)))
    return [_Change(start, stop, first + int(gain.argmax()), first + int(low), first + int(high), factor)]


def _gain(failing: Flags, worth: float) -> Floats:
    """By split: the log of how much likelier the outcomes are with two rates than with one (beta-binomial, Jeffreys).

    Every outcome counts as `worth` outcomes."""
    failed, executed = np.cumsum(failing), np.arange(1, len(failing) + 1)
    left = _log_marginal(worth * failed, worth * executed)
    rest = _log_marginal(worth * (failed[-1] - failed[:-1]), worth * (executed[-1] - executed[:-1]))
    return np.asarray(left[:-1] + rest - left[-1])


def _log_marginal(failed: npt.NDArray[np.floating], executed: npt.NDArray[np.floating]) -> Floats:
    passed = executed - failed
    return np.asarray(
        scipy.special.betaln(failed + JEFFREYS, passed + JEFFREYS) - scipy.special.betaln(JEFFREYS, JEFFREYS)
    )


def _log_bayes_factor(gain: Floats) -> float:
    return float(np.logaddexp.reduce(gain) - np.log(len(gain)))


def _worth(failing: Flags, split: int) -> float:
    """How many independent outcomes one is worth where neighbours are alike: (1 - r) / (1 + r).

    r is the autocorrelation of neighbours around the rates of their sides, so the change itself adds none."""
    apart = np.concatenate([side - side.mean() for side in np.split(failing.astype(np.float64), [split])])
    spread = float(apart @ apart)
    alike = float(apart[:-1] @ apart[1:]) / spread if spread > 0 else 0.0
    return (1 - alike) / (1 + alike) if alike > 0 else 1.0
