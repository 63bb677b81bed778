"""Section 9: what flaky tests cost, and so which to fix first."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from analytics.kernel.executions import Executions, Flags, Floats, Ints, distinct, distinct_per
from analytics.kernel.parameters import DEFAULTS, Parameters
from analytics.kernel.rates import clopper_pearson

# -- what was blocked and what was spent -------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class BlockedRuns:
    """Runs that failed, and every failing test of theirs was flaky: cells (test, run), each once, by run and test."""

    test: Ints
    run: Ints
    flaky: Flags
    """By test."""
    size: Ints
    """By run: how many tests blocked it; 0 where it was not blocked."""

    @property
    def count(self) -> int:
        return int(np.count_nonzero(self.size))

    def still(self, flaky: Flags) -> "BlockedRuns":
        """What would block runs today: tests that have recovered do so no more (`flaky` by test)."""
        kept = flaky[self.test]
        size = np.bincount(self.run[kept], minlength=len(self.size)).astype(np.int64)
        return BlockedRuns(self.test[kept], self.run[kept], self.flaky & flaky, size)


@dataclass(frozen=True, slots=True)
class Spent:
    """By test: the runs in which it was executed, those in which it was tried again, and what that took."""

    executed: Ints
    retried: Ints
    seconds: Floats


def last_failures(executions: Executions, run: Ints) -> tuple[Ints, Ints]:
    """Tests and runs in which the test failed at its last attempt: nothing cleared it (`run` by report)."""
    ran = executions.where(executions.executed & (run[executions.report] >= 0))
    size = int(run.max(initial=0)) + 1
    key = ran.test.astype(np.int64) * size + run[ran.report]
    failing = ran.failing
    cells = distinct(key[failing])
    rows = np.flatnonzero(np.isin(key, cells))
    last = np.zeros(len(cells), dtype=np.int64)
    np.maximum.at(last, np.searchsorted(cells, key[rows]), rows)
    cells = cells[failing[last]]
    return cells // size, cells % size


def spent(executions: Executions, run: Ints) -> Spent:
    """What tests took beyond their first attempt in each report; an attempt of unknown duration counts as no time."""
    ran = executions.where(executions.executed & (run[executions.report] >= 0))
    again = ran.ordinal > 0
    seconds = np.bincount(ran.test[again], weights=np.nan_to_num(ran.duration[again]), minlength=ran.tests)
    executed, retried = (distinct_per(part.test, run[part.report], part.tests) for part in (ran, ran.where(again)))
    return Spent(executed, retried, seconds.astype(np.float64))


def blocked_runs(test: Ints, run: Ints, flaky: Flags, runs: int, *, incident: Flags | None = None) -> BlockedRuns:
    """Which runs flakiness alone blocked, from the cells (test, run) of all tests that failed at their last attempt.

    A run that is part of an incident (`incident` by run) was blocked by that."""
    cells = distinct(run * max(len(flaky), 1) + test)
    run, test = cells // max(len(flaky), 1), cells % max(len(flaky), 1)
    failing = np.bincount(run, minlength=runs)
    blocked = (failing > 0) & (np.bincount(run[flaky[test]], minlength=runs) == failing)
    if incident is not None:
        blocked &= ~incident
    kept = blocked[run]
    return BlockedRuns(test[kept], run[kept], flaky, np.where(blocked, failing, 0).astype(np.int64))


# -- what to fix first -------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Priority:
    """Items to fix, each a flaky test or a cluster of them: the dearest first, by the lower end of the cost."""

    test: Ints
    """-1 where the item is a cluster."""
    cluster: Ints
    """-1 where the item is one test."""
    members: Ints
    """Flaky tests in the item."""
    blocked: Ints
    """Blocked runs in which it took part."""
    alone: Ints
    """Those of them that nothing else blocked."""
    machine_minutes: Floats
    """Its extra attempts, and its share of the blocked runs, each run again once."""
    developer_minutes: Floats
    cost: Floats
    low: Floats
    high: Floats
    """Both together, in minutes, with its interval."""
    saved: Floats
    """The share of blocked runs that would have passed with this item and all before it fixed; NaN for no such runs."""

    def __len__(self) -> int:
        return len(self.test)


@dataclass(frozen=True, slots=True)
class _Items:
    """Flaky tests joined to items: a cluster's members are one."""

    of_test: Ints
    """By test; -1 for a test that is not flaky."""
    test: Ints
    cluster: Ints
    members: Ints

    def total(self, by_test: npt.NDArray[np.number]) -> Floats:
        """The sum over the members."""
        mine = self.of_test >= 0
        sums = np.bincount(self.of_test[mine], weights=by_test[mine], minlength=len(self.test))
        return sums.astype(np.float64)


def priority(
    blocked: BlockedRuns,
    spent: Spent,
    run_seconds: Floats,
    cluster: Ints,
    parameters: Parameters = DEFAULTS,
) -> Priority:
    """Rank flaky tests and clusters by what they cost (`run_seconds` by run; `cluster` by test, -1 for none).

    A blocked run costs its own time once more and a developer's attention, shared equally among the tests that blocked
    it. The interval is that of the share of runs that it blocks, or is tried again in (Clopper-Pearson); ranking by its
    lower end keeps a test that was seen thrice from the top."""
    items = _items(blocked.flaky, cluster)
    runs, alone, machine, attention = _shares(blocked, items, run_seconds, parameters)
    extra = items.total(spent.seconds) / 60
    blocking, usual = machine + attention, _usual_cost(run_seconds, parameters)
    causing = _causing(items, spent, runs, len(run_seconds))
    low, high = _scaled(blocking, runs, causing.executed, usual, parameters.confidence)
    low_again, high_again = _scaled(extra, causing.retried, causing.executed, 0.0, parameters.confidence)
    low, high, cost = low + low_again, high + high_again, blocking + extra
    order = np.lexsort((np.arange(len(cost)), -cost, -low))
    return Priority(
        test=items.test[order],
        cluster=items.cluster[order],
        members=items.members[order],
        blocked=runs[order],
        alone=alone[order],
        machine_minutes=(machine + extra)[order],
        developer_minutes=attention[order],
        cost=cost[order],
        low=low[order],
        high=high[order],
        saved=_saved(blocked, items, order),
    )


def _items(flaky: Flags, cluster: Ints) -> _Items:
    """One item a cluster with several flaky tests, and one for each other flaky test."""
    tests = np.flatnonzero(flaky)
    label = cluster[tests]
    size = np.bincount(label[label >= 0], minlength=1)
    joined = (label >= 0) & (size[np.maximum(label, 0)] > 1)
    key = np.where(joined, label, len(size) + tests)
    _, first, item, members = np.unique(key, return_index=True, return_inverse=True, return_counts=True)
    of_test = np.full(len(flaky), -1, dtype=np.int64)
    of_test[tests] = item
    return _Items(
        of_test,
        np.where(joined, -1, tests)[first].astype(np.int64),
        np.where(joined, label, -1)[first].astype(np.int64),
        members.astype(np.int64),
    )


def _shares(
    blocked: BlockedRuns, items: _Items, run_seconds: Floats, parameters: Parameters
) -> tuple[Ints, Ints, Floats, Floats]:
    """By item: runs that it helped to block, those it blocked alone, and its shares of their minutes."""
    count = len(items.test)
    owner = items.of_test[blocked.test]
    share = 1 / blocked.size[blocked.run]
    machine: Floats = np.bincount(owner, share * run_seconds[blocked.run] / 60, count).astype(np.float64)
    attention: Floats = np.bincount(owner, share * parameters.developer_minutes, count).astype(np.float64)
    cells, tests = np.unique(blocked.run * max(count, 1) + owner, return_counts=True)
    item, run = cells % max(count, 1), cells // max(count, 1)
    whole = tests == blocked.size[run]
    runs, alone = (np.bincount(one, minlength=count).astype(np.int64) for one in (item, item[whole]))
    return runs, alone, machine, attention


def _usual_cost(run_seconds: Floats, parameters: Parameters) -> float:
    """Minutes that an average run would cost if it were blocked."""
    return (float(run_seconds.mean()) / 60 if len(run_seconds) else 0.0) + parameters.developer_minutes


def _causing(items: _Items, spent: Spent, blocked: Ints, runs: int) -> Spent:
    """By item: the runs in which it was executed and tried again.

    For a cluster these are sums over its members, at most all runs: the widest that its interval can be."""
    executed = np.maximum(np.minimum(items.total(spent.executed), runs), blocked).astype(np.int64)
    retried = np.minimum(items.total(spent.retried), executed).astype(np.int64)
    return Spent(executed, retried, items.total(spent.seconds))


def _scaled(minutes: Floats, causes: Ints, executed: Ints, usual: float, confidence: float) -> tuple[Floats, Floats]:
    """Both ends of a cost that grows with the number of runs that cause it.

    Where none did, some could still have done so: at the `usual` cost."""
    each = np.divide(minutes, causes, out=np.full(len(causes), usual), where=causes > 0)
    low, high = clopper_pearson(causes, executed, confidence)
    return np.nan_to_num(low) * executed * each, np.nan_to_num(high) * executed * each


def _saved(blocked: BlockedRuns, items: _Items, order: npt.NDArray[np.intp]) -> Floats:
    """A blocked run is saved once the last of the items that blocked it is fixed."""
    rank = np.empty(len(order), dtype=np.int64)
    rank[order] = np.arange(len(order))
    needed = np.full(len(blocked.size), -1, dtype=np.int64)
    np.maximum.at(needed, blocked.run, rank[items.of_test[blocked.test]])
    passing = np.cumsum(np.bincount(needed[needed >= 0], minlength=len(order)))
    return passing / blocked.count if blocked.count else np.full(len(order), np.nan)
