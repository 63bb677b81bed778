"""What flaky tests cost, and which to fix first.

See docs/concepts.md#what-flakiness-costs and docs/concepts.md#what-to-fix-first."""

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from analytics.kernel.executions import Executions, Flags, Floats, Ints, distinct, distinct_per
from analytics.kernel.parameters import DEFAULTS, Parameters
from analytics.kernel.parts import ChosenTests, Part, by_part
from analytics.kernel.rates import clopper_pearson

# -- blocked runs and effort -------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class BlockedRuns:
    """Runs that flaky tests blocked, or would have: cells (test, run), each once, by run and test.

    Tests that were broken before are set aside: even then, flaky tests cost what they would block."""

    test: Ints
    run: Ints
    flaky: Flags
    """By test."""
    size: Ints
    """By run: how many flaky tests blocked it; 0 if it was not blocked."""
    would: Flags
    """By run: a broken test failed in it too; without that, the flaky tests would still have blocked it."""
    masked: Ints
    """By test: runs that it would have blocked without its quarantine."""
    saved: Flags
    """By run: only masked failures would have blocked it."""

    @property
    def masked_runs(self) -> int:
        """Runs that only masked failures would have blocked."""
        return int(np.count_nonzero(self.saved))

    @property
    def count(self) -> int:
        return int(np.count_nonzero(self.size))

    @property
    def would_count(self) -> int:
        """Those that a broken test blocked too."""
        return int(np.count_nonzero((self.size > 0) & self.would))

    def still(self, flaky: Flags) -> "BlockedRuns":
        """Only the tests that are `flaky` today, by test: recovered ones no longer block."""
        kept = flaky[self.test]
        size = np.bincount(self.run[kept], minlength=len(self.size)).astype(np.int64)
        masked = np.where(flaky, self.masked, 0)
        return replace(
            self, test=self.test[kept], run=self.run[kept], flaky=self.flaky & flaky, size=size, masked=masked
        )


@dataclass(frozen=True, slots=True)
class RetryEffort:
    """By test: the runs in which it was executed, those in which it was retried, and the seconds that retries took."""

    executed: Ints
    retried: Ints
    seconds: Floats
    """NaN where it was tried again, and no report says how long that took."""


@dataclass(frozen=True, slots=True)
class LastFailures:
    """Tests and runs in which the test failed at its last attempt."""

    test: Ints
    run: Ints
    row: Ints
    """The execution."""


def last_failures(executions: Executions, run: Ints) -> LastFailures:
    """Tests and runs that failed at the last attempt (`run` by report)."""
    return by_part(executions, lambda part: _last_failures(part, run))


def _last_failures(part: Part, run: Ints) -> LastFailures:
    executions = part.executions
    known = np.asarray(executions.executed & (run[executions.report] >= 0))
    ran = executions.where(known)
    size = int(run.max(initial=0)) + 1
    key = ran.test.astype(np.int64) * size + run[ran.report]
    failing = ran.failing
    cells = distinct(key[failing])
    rows = np.flatnonzero(np.isin(key, cells))
    last = np.zeros(len(cells), dtype=np.int64)
    np.maximum.at(last, np.searchsorted(cells, key[rows]), rows)
    ended = failing[last]
    cells = cells[ended]
    rows = np.flatnonzero(known)[last[ended]]
    return LastFailures(cells // size + part.first, cells % size, rows + part.rows.start)


def retry_effort(executions: Executions | ChosenTests, run: Ints) -> RetryEffort:
    """The time beyond first attempts in each report; among known durations an unknown one counts as 0, and where none
    is known the time is NaN."""
    return by_part(executions, lambda part: _retry_effort(part.executions, run))


def _retry_effort(executions: Executions, run: Ints) -> RetryEffort:
    ran = executions.where(executions.executed & (run[executions.report] >= 0))
    again = ran.ordinal > 0
    seconds = np.bincount(ran.test[again], weights=np.nan_to_num(ran.duration[again]), minlength=ran.tests)
    timed = np.bincount(ran.test[again & np.isfinite(ran.duration)], minlength=ran.tests) > 0
    executed, retried = (distinct_per(part.test, run[part.report], part.tests) for part in (ran, ran.where(again)))
    return RetryEffort(executed, retried, np.where((retried > 0) & ~timed, np.nan, seconds))


def blocked_runs(
    test: Ints,
    run: Ints,
    flaky: Flags,
    runs: int,
    *,
    incident: Flags | None = None,
    broken: Flags | None = None,
    masked: Flags | None = None,
) -> BlockedRuns:
    """Runs blocked only by flaky tests, from the cells (test, run) of all tests that failed at their last attempt.

    An incident (`incident` by run) blocks its runs itself. Cells that were `broken` before do not decide whether flaky
    tests would have blocked the run, and `masked` cells block nothing."""
    cells, first = np.unique(run * max(len(flaky), 1) + test, return_index=True)
    run, test = cells // max(len(flaky), 1), cells % max(len(flaky), 1)
    none = np.zeros(len(cells), dtype=bool)
    broken = none if broken is None else broken[first] & ~flaky[test]
    masked = none if masked is None else masked[first]
    excused = np.zeros(runs, dtype=bool) if incident is None else incident

    def count(chosen: Flags) -> Ints:
        return np.bincount(run[chosen], minlength=runs).astype(np.int64)

    counted = ~broken & ~masked
    failing = count(counted)
    blocked = (failing > 0) & (count(counted & flaky[test]) == failing) & ~excused
    kept = blocked[run] & counted
    saved = masked & flaky[test] & ~excused[run]
    only_masked = (count(saved) > 0) & (count(counted) == 0) & (count(broken & ~masked) == 0)
    return BlockedRuns(
        test=test[kept],
        run=run[kept],
        flaky=flaky,
        size=np.where(blocked, failing, 0).astype(np.int64),
        would=count(broken & ~masked) > 0,
        masked=np.bincount(test[saved], minlength=len(flaky)).astype(np.int64),
        saved=np.asarray(only_masked),
    )


# -- what to fix first -------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Priority:
    """Items to fix, each a flaky test or a cluster of them: the most expensive first, by the lower end of the cost."""

    test: Ints
    """-1 if the item is a cluster."""
    cluster: Ints
    """-1 if the item is a single test."""
    members: Ints
    """Flaky tests in the item."""
    blocked: Ints
    """Blocked runs in which it took part."""
    alone: Ints
    """Those of them that no other flaky test blocked."""
    would: Ints
    """Those that a broken test blocked too."""
    masked: Ints
    """Further runs that it would have blocked without its quarantine; for a cluster, the sum over its tests."""
    inspected: Floats
    inspected_low: Floats
    inspected_high: Floats
    """Its share of the blocked runs, each a failure that somebody inspects, with its interval."""
    machine_minutes: Floats
    machine_low: Floats
    machine_high: Floats
    """Its extra attempts, and its share of the blocked runs, each rerun once. NaN if none of them has a known duration;
    what is computed from the minutes then counts them as 0."""
    developer_minutes: Floats
    cost: Floats
    low: Floats
    high: Floats
    """Both together, in minutes, with its interval."""
    saved_runs: Ints
    """Blocked runs that would have passed with this item and all before it fixed."""
    blocked_runs: int
    """All blocked runs."""

    @property
    def saved(self) -> Floats:
        """The share of blocked runs; NaN if there are none."""
        return self.saved_runs / self.blocked_runs if self.blocked_runs else np.full(len(self), np.nan)

    def __len__(self) -> int:
        return len(self.test)


@dataclass(frozen=True, slots=True)
class _Items:
    """Flaky tests grouped into items: the members of a cluster are one item."""

    of_test: Ints
    """By test; -1 for a test that is not flaky."""
    test: Ints
    cluster: Ints
    members: Ints

    def total(self, by_test: npt.NDArray[np.number]) -> Floats:
        """The sum over the members."""
        included = self.of_test >= 0
        sums = np.bincount(self.of_test[included], weights=by_test[included], minlength=len(self.test))
        return sums.astype(np.float64)


def priority(
    blocked: BlockedRuns,
    effort: RetryEffort,
    run_seconds: Floats,
    cluster: Ints,
    parameters: Parameters = DEFAULTS,
) -> Priority:
    """Rank flaky tests and clusters by what they cost (`run_seconds` by run; `cluster` by test, -1 for none).

    A blocked run costs its own time again and a developer's attention, shared equally among the tests that blocked
    it. The interval is that of the share of runs that an item blocks or is retried in (Clopper-Pearson); ranking by
    its lower end keeps a test that ran three times from the top."""
    items = _items(blocked.flaky, cluster)
    runs, alone, would, machine, inspected = _shares(blocked, items, run_seconds)
    extra, again = items.total(np.nan_to_num(effort.seconds)) / 60, _causing(items, effort, runs, len(run_seconds))
    timed = (machine > 0) | (items.total(np.where(np.isfinite(effort.seconds), effort.retried, 0)) > 0)
    unknown = ~timed & ((runs > 0) | (again.retried > 0))
    usual = float(run_seconds.mean()) / 60 if len(run_seconds) else 0.0
    looked = _scaled(inspected, runs, again.executed, 1.0, parameters.confidence)
    blocking = _scaled(machine, runs, again.executed, usual, parameters.confidence)
    retrying = _scaled(extra, again.retried, again.executed, 0.0, parameters.confidence)
    machine, machine_low, machine_high = machine + extra, blocking[0] + retrying[0], blocking[1] + retrying[1]
    attention = parameters.developer_minutes
    low, high = attention * looked[0] + machine_low, attention * looked[1] + machine_high
    cost = attention * inspected + machine
    order = np.lexsort((np.arange(len(cost)), -cost, -low))
    return Priority(
        test=items.test[order],
        cluster=items.cluster[order],
        members=items.members[order],
        blocked=runs[order],
        alone=alone[order],
        would=would[order],
        masked=items.total(blocked.masked).astype(np.int64)[order],
        inspected=inspected[order],
        inspected_low=looked[0][order],
        inspected_high=looked[1][order],
        machine_minutes=np.where(unknown, np.nan, machine)[order],
        machine_low=machine_low[order],
        machine_high=machine_high[order],
        developer_minutes=attention * inspected[order],
        cost=cost[order],
        low=low[order],
        high=high[order],
        saved_runs=_saved(blocked, items, order),
        blocked_runs=blocked.count,
    )


def _items(flaky: Flags, cluster: Ints) -> _Items:
    """An item for each cluster with several flaky tests, and one for each other flaky test."""
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


def _shares(blocked: BlockedRuns, items: _Items, run_seconds: Floats) -> tuple[Ints, Ints, Ints, Floats, Floats]:
    """By item: runs it helped to block, those it blocked alone or would have, and its shares of minutes and runs."""
    count = len(items.test)
    owner = items.of_test[blocked.test]
    share = 1 / blocked.size[blocked.run]
    machine: Floats = np.bincount(owner, share * run_seconds[blocked.run] / 60, count).astype(np.float64)
    inspected: Floats = np.bincount(owner, share, count).astype(np.float64)
    cells, tests = np.unique(blocked.run * max(count, 1) + owner, return_counts=True)
    item, run = cells % max(count, 1), cells // max(count, 1)
    whole = tests == blocked.size[run]
    parts = (item, item[whole], item[blocked.would[run]])
    runs, alone, would = (np.bincount(part, minlength=count).astype(np.int64) for part in parts)
    return runs, alone, would, machine, inspected


def _causing(items: _Items, effort: RetryEffort, blocked: Ints, runs: int) -> RetryEffort:
    """By item: the runs in which it was executed and retried.

    For a cluster these are sums over its members, at most all runs: the widest that its interval can be."""
    executed = np.maximum(np.minimum(items.total(effort.executed), runs), blocked).astype(np.int64)
    retried = np.minimum(items.total(effort.retried), executed).astype(np.int64)
    return RetryEffort(executed, retried, items.total(np.nan_to_num(effort.seconds)))


def _scaled(cost: Floats, causes: Ints, executed: Ints, usual: float, confidence: float) -> tuple[Floats, Floats]:
    """Both ends of a cost that grows with the number of runs that cause it.

    If there are none, the upper end assumes the `usual` cost."""
    each = np.divide(cost, causes, out=np.full(len(causes), usual), where=causes > 0)
    low, high = clopper_pearson(causes, executed, confidence)
    return np.nan_to_num(low) * executed * each, np.nan_to_num(high) * executed * each


def _saved(blocked: BlockedRuns, items: _Items, order: npt.NDArray[np.intp]) -> Ints:
    """A blocked run is saved once the last of the items that blocked it is fixed."""
    rank = np.empty(len(order), dtype=np.int64)
    rank[order] = np.arange(len(order))
    needed = np.full(len(blocked.size), -1, dtype=np.int64)
    np.maximum.at(needed, blocked.run, rank[items.of_test[blocked.test]])
    return np.cumsum(np.bincount(needed[needed >= 0], minlength=len(order))).astype(np.int64)
