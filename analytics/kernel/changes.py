"""Where a test's failure rate changed, and how precisely that is known. See docs/concepts.md#changes-of-a-rate."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import scipy

from analytics.kernel.executions import Executions, Flags, Floats, Ints
from analytics.kernel.parameters import DEFAULTS, Parameters
from analytics.kernel.parts import parts

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
    rows: list[_Row] = []
    for part in parts(executions):
        ran = part.executions.where(part.executions.executed)
        rows += _of_tests(ran, part.first, revision, parameters)
    return _columns(rows)


def _of_tests(ran: Executions, first: int, revision: Ints, parameters: Parameters) -> Iterator["_Row"]:
    """The rows of some tests, which are numbered from `first` among all."""
    report, failing = ran.report, ran.failing
    trial = _trials(ran.test, revision[report], failing)
    enough = ran.count(trial & failing) >= parameters.few_failures
    enough &= _may_change(ran.where(trial & enough[ran.test]), parameters)
    bounds = np.concatenate([[0], np.cumsum(np.bincount(ran.test, minlength=ran.tests))])
    for number in np.flatnonzero(enough).tolist():
        inside = slice(bounds[number], bounds[number + 1])
        counted = trial[inside]
        found = _segmented(failing[inside][counted], parameters)
        yield from _rows(number + first, found, np.flatnonzero(counted), report[inside], failing[inside])


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


# -- many tests --------------------------------------------------------------------------------------------------

_ROUNDING = 1e-6


def _may_change(trials: Executions, parameters: Parameters) -> Flags:
    """By test: whether the outcomes of all its trials may be likelier with a change: most tests are done with that.

    The same as `_log_bayes_factor` of each, but for rounding."""
    executed = np.bincount(trials.test, minlength=trials.tests)
    failed = np.bincount(trials.test[trials.failing], minlength=trials.tests)
    may = np.zeros(trials.tests, dtype=bool)
    ends = np.cumsum(executed)
    before: Ints = np.cumsum(trials.failing) - np.repeat(np.cumsum(failed) - failed, executed)
    split = np.ones(len(trials.test), dtype=bool)
    split[ends[executed > 0] - 1] = False  # nothing comes after the last trial
    if not split.any():
        return may
    test, rank = trials.test[split], trials.rank[split] + 1
    chance = _Marginals(int(failed.max()), int(executed.max()), len(test))
    gain = chance.of(before[split], rank) + chance.of(failed[test] - before[split], executed[test] - rank)
    number = np.flatnonzero(executed > 1)
    splits = executed[number] - 1
    starts = np.cumsum(splits) - splits
    largest = np.maximum.reduceat(gain, starts)
    total = np.add.reduceat(np.exp(gain - np.repeat(largest, splits)), starts)
    whole = chance.of(failed[number], executed[number])
    factor = largest + np.log(total) - whole - np.log(splits)
    may[number] = factor > np.log(parameters.bayes_factor) - _ROUNDING
    return may


class _Marginals:
    """`_log_marginal` of many counts, from a table where that is smaller than they are."""

    def __init__(self, failed: int, executed: int, values: int) -> None:
        self._table: Floats | None = None
        if (failed + 1) * (executed + 1) <= values:
            bad, ran = np.arange(failed + 1, dtype=np.float64)[:, None], np.arange(executed + 1, dtype=np.float64)
            self._table = _log_marginal(np.minimum(bad, ran), ran)

    def of(self, failed: Ints, executed: Ints) -> Floats:
        if self._table is None:
            return _log_marginal(failed.astype(np.float64), executed.astype(np.float64))
        return np.asarray(self._table.ravel().take(failed * self._table.shape[1] + executed))


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
