"""Whether a test depends on the order in which tests run, and on which other tests.

See docs/concepts.md#order-dependence and docs/concepts.md#partners-and-cleaners."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
import numpy.typing as npt
import scipy

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
    """Of "the rate is the same in all orders"; NaN if that cannot be tested."""
    failing_orders: float
    """The share of orders in which it failed at least once."""


def order_p_value(failed: npt.NDArray[np.integer], runs: npt.NDArray[np.integer]) -> float:
    """The chi-squared test across orders, with Yates' correction where there are exactly two (as in Lam6).

    NaN if a test never failed, never passed, or ran in only one order."""
    failed, runs = np.asarray(failed), np.asarray(runs)
    table = np.stack([failed, runs - failed])[:, runs > 0]
    if table.shape[1] < 2 or np.any(table.sum(axis=1) == 0):
        return float("nan")
    return float(scipy.stats.chi2_contingency(table, correction=table.shape[1] == 2).pvalue)


def _small_table_p_value(failed: Ints, runs: Ints) -> float:
    """For expected counts below 5: Fisher's test for two orders, else a permutation test of the same statistic."""
    table = np.stack([failed, runs - failed])
    expected = np.outer(table.sum(axis=1), table.sum(axis=0)) / table.sum()
    if expected.min() >= 5:
        return order_p_value(failed, runs)
    if table.shape[1] == 2:
        return float(scipy.stats.fisher_exact(table).pvalue)
    return _permutation_p_value(failed, runs)


_DRAWS = (200, 1_800)
"""A few draws first: they mostly show no effect, which saves the others."""


def _permutation_p_value(failed: Ints, runs: Ints) -> float:
    share = failed.sum() / runs.sum()
    statistic = ((failed - runs * share) ** 2 / runs).sum()
    rng, beyond, draws = np.random.default_rng(0), 0, 0
    for count in _DRAWS:
        sample = rng.multivariate_hypergeometric(runs, int(failed.sum()), size=count)
        simulated = ((sample - runs * share) ** 2 / runs).sum(axis=1)
        beyond, draws = beyond + int(np.count_nonzero(simulated >= statistic - 1e-9)), draws + count
        if beyond > 0.2 * draws:
            break
    return (beyond + 1) / (draws + 1)


def order_verdict(
    failed: npt.NDArray[np.integer], runs: npt.NDArray[np.integer], parameters: Parameters = DEFAULTS
) -> OrderVerdict:
    """The kind of order dependence, from a test's failures and runs in each order."""
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

    `orders` are test numbers below `tests` in order of execution. A test that an order lacks did not run."""
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
    """The position of a test in an order; 0 if it is absent, so that nothing precedes it."""
    return int(np.argmax(order == test)) if len(order) else 0


# -- partners ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Partners:
    """Tests whose position before or after a test correlates with its failures: related ones first, then by p-value."""

    test: Ints
    p_value: Floats
    """For a related test: among the executions that those above it do not explain."""
    polluter: Flags
    """True: the test fails if this one ran before it. False: it passes only then (a state-setter)."""
    related: Flags
    """Significant after Benjamini-Hochberg over all candidates."""
    alike: Ints
    """Candidates, including this one, that ran before it in exactly the same executions and cannot be told apart."""

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


NO_PARTNERS = Partners(*(np.zeros(0, kind) for kind in (np.int64, np.float64, bool, bool, np.int64)))


def partners(before: Flags, failed: Flags, parameters: Parameters = DEFAULTS) -> Partners:
    """Candidates for the partner of an order-dependent test.

    `before` is executions x tests: whether the other test ran earlier on the same worker. For each, the table
    (before or not) x (failed or not) by Fisher's exact test; ties are broken by the strength of the association."""
    ranked = _ranked(before, failed, _two_sided, parameters)
    return Partners(ranked.test, ranked.p_value, ranked.lift > 0, ranked.related, ranked.alike)


def deciding_partners(before: Flags, failed: Flags, parameters: Parameters = DEFAULTS) -> Partners:
    """Tests that decide every execution: it failed exactly when they ran before it, or exactly when they did not.

    Fisher's exact test of all executions, Benjamini-Hochberg over the distinguishable candidates; for little data,
    for which `partners` is too cautious. Empty if nothing is significant."""
    mixed = np.flatnonzero(before.any(axis=0) & ~before.all(axis=0))
    polluter, setter = (np.all(before[:, mixed] == side[:, None], axis=0) for side in (failed, ~failed))
    count, failures = len(failed), int(failed.sum())
    chosen = mixed[polluter | setter]
    if not len(chosen) or failures < parameters.few_failures:
        return NO_PARTNERS
    p_value = float(scipy.stats.fisher_exact([[failures, 0], [0, count - failures]]).pvalue)
    there = before[:, mixed]
    apart = np.unique(np.packbits(there ^ there[0], axis=0), axis=1).shape[1]
    if p_value > parameters.significance / apart:
        return NO_PARTNERS
    return Partners(
        chosen.astype(np.int64),
        np.full(len(chosen), p_value),
        polluter[polluter | setter],
        np.ones(len(chosen), dtype=bool),
        _alike(before[:, chosen]),
    )


def cleaners(
    orders: Sequence[Ints],
    order_of_execution: Ints,
    failed: Flags,
    victim: int,
    polluter: int,
    tests: int,
    parameters: Parameters = DEFAULTS,
) -> Cleaners:
    """Candidates for the cleaners of a victim: it passes after the polluter if a cleaner ran in between.

    One-sided Fisher's test, Benjamini-Hochberg over all candidates."""
    polluted = before_matrix(orders, order_of_execution, victim, tests)[:, polluter]
    between = between_matrix(orders, order_of_execution[polluted], polluter, victim, tests)
    ranked = _ranked(between, failed[polluted], _fewer, parameters)
    cleans = ranked.lift < 0
    return Cleaners(ranked.test[cleans], ranked.p_value[cleans], ranked.related[cleans], ranked.alike[cleans])


@dataclass(frozen=True, slots=True)
class _Associations:
    """Candidates, and how their presence correlates with failures."""

    test: Ints
    p_value: Floats
    lift: Floats
    """Their share among failures minus that among passes."""
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
    more = scipy.stats.hypergeom.sf(with_failed - 1, executed, failures, there)
    return np.asarray(np.minimum(1.0, 2 * np.minimum(_fewer(with_failed, executed, failures, there), more)))


def _fewer(with_failed: Ints, executed: int, failures: int, there: Ints) -> Floats:
    return np.asarray(scipy.stats.hypergeom.cdf(with_failed, executed, failures, there))


def _ranked(there: Flags, failed: Flags, tail: Tail, parameters: Parameters) -> _Ranked:
    """Candidates ranked. A test late in an order runs after all others, so many seem guilty where one is: once a
    candidate is found, the executions with it are explained, and only the rest count for the other candidates.

    Executions with the same tests before them and the same outcome count once: a suite that runs in one order a
    hundred times has not shown a hundred times which test is guilty."""
    there, failed = _witnesses(there, failed)
    left = np.ones(len(failed), dtype=bool)
    found: list[_Associations] = []
    associations = first = _associations(there, failed, tail, parameters)
    while associations.related.any():
        best = associations.order[0]
        same = np.all(there[:, associations.test] == there[:, associations.test[best], None], axis=0)
        found.append(associations.take(np.flatnonzero(same)))
        left &= ~there[:, associations.test[best]]
        associations = _associations(there[left], failed[left], tail, parameters)
    blamed = np.concatenate([part.test for part in found]) if found else np.zeros(0, dtype=np.int64)
    rest = first.take(first.order[~np.isin(first.test[first.order], blamed)])
    parts = [*found, rest]
    test = np.concatenate([part.test for part in parts])
    return _Ranked(
        test=test,
        p_value=np.concatenate([part.p_value for part in parts]),
        lift=np.concatenate([part.lift for part in parts]),
        related=np.arange(len(test)) < len(blamed),
        alike=_alike(there[:, test]),
    )


def _associations(there: Flags, failed: Flags, tail: Tail, parameters: Parameters) -> _Associations:
    """For each test that was present a few times and absent a few times: does its presence correlate with failing?"""
    seen = there.sum(axis=0)
    test = np.flatnonzero(np.minimum(seen, len(failed) - seen) >= parameters.few_failures)
    with_failed, seen = there[failed][:, test].sum(axis=0), seen[test]
    failures, passes = int(failed.sum()), int((~failed).sum())
    lift = with_failed / max(failures, 1) - (seen - with_failed) / max(passes, 1)
    tables, at = np.unique(np.stack([with_failed, seen]), axis=1, return_inverse=True)
    p_value = tail(tables[0], len(failed), failures, tables[1])[at.ravel()]
    related = scipy.stats.false_discovery_control(np.minimum(p_value, 1.0)) <= parameters.significance
    return _Associations(test.astype(np.int64), p_value, lift, related)


def _witnesses(there: Flags, failed: Flags) -> tuple[Flags, Flags]:
    """The distinct rows, by the tests present and the outcome."""
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
