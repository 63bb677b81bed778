"""Section 7: does a test depend on the order in which tests run, and on which other tests?"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
import numpy.typing as npt
from scipy import stats

from analytics.kernel.discovery import benjamini_hochberg
from analytics.kernel.executions import Flags, Floats, Ints
from analytics.kernel.parameters import DEFAULTS, Parameters


class OrderKind(StrEnum):
    OD = "OD"
    """Order dependent: every order's rate is 0 or 1, and both occur."""
    NDOD = "NDOD"
    """Not deterministic, and the rates differ between orders."""
    NDOI = "NDOI"
    """Not deterministic, and no difference between orders is shown."""
    UNKNOWN = "not enough data"


@dataclass(frozen=True, slots=True)
class OrderVerdict:
    kind: OrderKind
    p_value: float
    """Of "the rate is the same in all orders"; NaN where that cannot be asked."""
    failing_orders: float
    """The share of orders in which it failed at least once."""


def order_p_value(failed: npt.NDArray[np.integer], runs: npt.NDArray[np.integer]) -> float:
    """The chi-squared test across orders, with Yates' correction where there are exactly two (as in Lam6).

    NaN where a test never failed, never passed, or ran in one order only."""
    failed, runs = np.asarray(failed), np.asarray(runs)
    table = np.stack([failed, runs - failed])[:, runs > 0]
    if table.shape[1] < 2 or np.any(table.sum(axis=1) == 0):
        return float("nan")
    return float(stats.chi2_contingency(table, correction=table.shape[1] == 2).pvalue)


def _small_table_p_value(failed: Ints, runs: Ints) -> float:
    """Where expected counts are below 5: Fisher for two orders, else a permutation test of the same statistic."""
    table = np.stack([failed, runs - failed])
    expected = np.outer(table.sum(axis=1), table.sum(axis=0)) / table.sum()
    if expected.min() >= 5:
        return order_p_value(failed, runs)
    if table.shape[1] == 2:
        return float(stats.fisher_exact(table).pvalue)
    return _permutation_p_value(failed, runs)


_DRAWS = (200, 1_800)
"""Few first: where they say that nothing is shown, as they mostly do, the others are spared."""


def _permutation_p_value(failed: Ints, runs: Ints) -> float:
    share = failed.sum() / runs.sum()
    statistic = ((failed - runs * share) ** 2 / runs).sum()
    rng, beyond, drawn = np.random.default_rng(0), 0, 0
    for count in _DRAWS:
        sample = rng.multivariate_hypergeometric(runs, int(failed.sum()), size=count)
        simulated = ((sample - runs * share) ** 2 / runs).sum(axis=1)
        beyond, drawn = beyond + int(np.count_nonzero(simulated >= statistic - 1e-9)), drawn + count
        if beyond > 0.2 * drawn:
            break
    return (beyond + 1) / (drawn + 1)


def order_verdict(
    failed: npt.NDArray[np.integer], runs: npt.NDArray[np.integer], parameters: Parameters = DEFAULTS
) -> OrderVerdict:
    """What kind of flaky a test is, from its failures and runs per order."""
    ran: Ints = np.asarray(runs, dtype=np.int64)
    bad: Ints = np.asarray(failed, dtype=np.int64)[ran > 0]
    ran = ran[ran > 0]
    failing = float(np.mean(bad > 0)) if len(ran) else float("nan")
    never, always = bad == 0, bad == ran
    if len(ran) and np.all(never | always):
        both = bool(never.any() and always.any() and ran[always].max() >= 2)
        return OrderVerdict(OrderKind.OD if both else OrderKind.UNKNOWN, float("nan"), failing)
    if bad.sum() < parameters.few_failures or len(ran) < 2:
        return OrderVerdict(OrderKind.UNKNOWN, float("nan"), failing)
    p_value = _small_table_p_value(bad, ran)
    kind = OrderKind.NDOD if p_value < parameters.significance else OrderKind.NDOI
    return OrderVerdict(kind, p_value, failing)


# -- who ran before whom -----------------------------------------------------------------------------------------


def before_matrix(orders: Sequence[Ints], order_of_execution: Ints, test: int, tests: int) -> Flags:
    """Executions x tests: whether the other test ran earlier than `test`, in the order of the execution.

    `orders` are numbers of tests, below `tests`, in order of execution. A test that an order lacks ran at no time."""
    return _matrix(orders, order_of_execution, tests, lambda order: order[: _step(order, test)])


def between_matrix(orders: Sequence[Ints], order_of_execution: Ints, first: int, last: int, tests: int) -> Flags:
    """Executions x tests: whether the other test ran after `first` and before `last`."""
    return _matrix(orders, order_of_execution, tests, lambda order: order[_step(order, first) + 1 : _step(order, last)])


def _matrix(orders: Sequence[Ints], order_of_execution: Ints, tests: int, part: Callable[[Ints], Ints]) -> Flags:
    """Executions x tests: whether the test is in this part of the execution's order."""
    which, at = np.unique(order_of_execution, return_inverse=True)
    rows = np.zeros((len(which), tests), dtype=bool)
    for row, number in enumerate(which.tolist()):
        rows[row, part(orders[number])] = True
    return np.asarray(rows[at])


def _step(order: Ints, test: int) -> int:
    """Where a test is in an order; 0 where it is not: nothing was before it."""
    return int(np.argmax(order == test)) if len(order) else 0


# -- partners ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Partners:
    """Tests whose place before or after a test goes with its failing: those related first, then the most telling."""

    test: Ints
    p_value: Floats
    """Of a related one: among the executions that those above it do not explain."""
    polluter: Flags
    """True: it fails when this one ran before it. False: it passes only then (a state-setter)."""
    related: Flags
    """Significant after Benjamini-Hochberg over all candidates."""
    alike: Ints
    """Candidates, this one counted, that were before it in the very same executions: nothing tells them apart."""

    @property
    def state_setter(self) -> Flags:
        return ~self.polluter


@dataclass(frozen=True, slots=True)
class Cleaners:
    """Tests that make a victim pass when they run between its polluter and it; columns as in `Partners`."""

    test: Ints
    p_value: Floats
    related: Flags
    alike: Ints


def partners(before: Flags, failed: Flags, parameters: Parameters = DEFAULTS) -> Partners:
    """Candidates for the partner of an order-dependent test.

    `before` is executions x tests: whether the other test ran earlier on the same worker. For each, the table
    (before or not) x (failed or not) by Fisher's exact test; ties are broken by the strength of the association."""
    told = _ranked(before, failed, _two_sided, parameters)
    return Partners(told.test, told.p_value, told.lift > 0, told.related, told.alike)


def cleaners(
    orders: Sequence[Ints],
    order_of_execution: Ints,
    failed: Flags,
    victim: int,
    polluter: int,
    tests: int,
    parameters: Parameters = DEFAULTS,
) -> Cleaners:
    """Candidates for the cleaners of a victim: of its executions after the polluter, those with the cleaner between
    pass. Fisher's test of that side alone, Benjamini-Hochberg over all candidates."""
    polluted = before_matrix(orders, order_of_execution, victim, tests)[:, polluter]
    between = between_matrix(orders, order_of_execution[polluted], polluter, victim, tests)
    told = _ranked(between, failed[polluted], _fewer, parameters)
    cleans = told.lift < 0
    return Cleaners(told.test[cleans], told.p_value[cleans], told.related[cleans], told.alike[cleans])


@dataclass(frozen=True, slots=True)
class _Associations:
    """Candidates and how their being there goes with failing."""

    test: Ints
    p_value: Floats
    lift: Floats
    """Their share among failures less that among passes."""
    related: Flags

    @property
    def order(self) -> npt.NDArray[np.intp]:
        return np.lexsort((self.test, -np.abs(self.lift), self.p_value))

    def take(self, rows: npt.NDArray[np.integer]) -> "_Associations":
        return _Associations(self.test[rows], self.p_value[rows], self.lift[rows], self.related[rows])


@dataclass(frozen=True, slots=True)
class _Ranked(_Associations):
    alike: Ints


Tail = Callable[[Ints, int, int, Ints], Floats]
"""Failures with a candidate, executions, failures and executions with it -> p-value."""


def _two_sided(with_failed: Ints, executed: int, failures: int, there: Ints) -> Floats:
    """Twice the smaller tail, at most 1."""
    more = stats.hypergeom.sf(with_failed - 1, executed, failures, there)
    return np.asarray(np.minimum(1.0, 2 * np.minimum(_fewer(with_failed, executed, failures, there), more)))


def _fewer(with_failed: Ints, executed: int, failures: int, there: Ints) -> Floats:
    return np.asarray(stats.hypergeom.cdf(with_failed, executed, failures, there))


def _ranked(there: Flags, failed: Flags, tail: Tail, parameters: Parameters) -> _Ranked:
    """Candidates in order. Who comes late in an order comes after everybody, so that many seem to be to blame where one
    is: once a candidate is found, the executions in which it was there are explained, and the others have to be told
    by the rest.

    Executions that had the same tests there and ended alike are one witness: a suite that runs in one order a hundred
    times has not shown a hundred times who is to blame."""
    there, failed = _witnesses(there, failed)
    left = np.ones(len(failed), dtype=bool)
    found: list[_Associations] = []
    told = first = _associations(there, failed, tail, parameters)
    while told.related.any():
        best = told.order[0]
        same = np.all(there[:, told.test] == there[:, told.test[best], None], axis=0)
        found.append(told.take(np.flatnonzero(same)))
        left &= ~there[:, told.test[best]]
        told = _associations(there[left], failed[left], tail, parameters)
    blamed = np.concatenate([one.test for one in found]) if found else np.zeros(0, dtype=np.int64)
    rest = first.take(first.order[~np.isin(first.test[first.order], blamed)])
    parts = [*found, rest]
    test = np.concatenate([one.test for one in parts])
    return _Ranked(
        test=test,
        p_value=np.concatenate([one.p_value for one in parts]),
        lift=np.concatenate([one.lift for one in parts]),
        related=np.arange(len(test)) < len(blamed),
        alike=_alike(there[:, test]),
    )


def _associations(there: Flags, failed: Flags, tail: Tail, parameters: Parameters) -> _Associations:
    """For each test that was there and was not, a few times each: does its being there go with failing?"""
    seen = there.sum(axis=0)
    test = np.flatnonzero(np.minimum(seen, len(failed) - seen) >= parameters.few_failures)
    with_failed, seen = there[failed][:, test].sum(axis=0), seen[test]
    failures, passes = int(failed.sum()), int((~failed).sum())
    lift = with_failed / max(failures, 1) - (seen - with_failed) / max(passes, 1)
    tables, at = np.unique(np.stack([with_failed, seen]), axis=1, return_inverse=True)
    p_value = tail(tables[0], len(failed), failures, tables[1])[at.ravel()]
    related = benjamini_hochberg(p_value, len(p_value), parameters.significance)
    return _Associations(test.astype(np.int64), p_value, lift, related)


def _witnesses(there: Flags, failed: Flags) -> tuple[Flags, Flags]:
    """Rows that differ in who was there or in how they ended."""
    rows = np.packbits(np.column_stack([failed, there]), axis=1)
    _, first = np.unique(rows, axis=0, return_index=True)
    return there[first], failed[first]


def _alike(there: Flags) -> Ints:
    """For each column, how many are the same."""
    if not there.size:
        return np.ones(there.shape[1], dtype=np.int64)
    columns = np.packbits(there, axis=0)
    _, at, count = np.unique(columns, axis=1, return_inverse=True, return_counts=True)
    return np.asarray(count[at.ravel()], dtype=np.int64)


def single_polluter_rate(polluters: int, cleaners: int) -> float:
    """The share of random orders in which a victim fails, with single polluters and cleaners: |P| / (|P| + |C| + 1).

    The last of them before the victim decides (Lam3); each, or none, is that equally often."""
    return polluters / (polluters + cleaners + 1)
