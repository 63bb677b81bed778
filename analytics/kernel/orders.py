"""Section 7: does a test depend on the order in which tests run, and on which other tests?"""

from dataclasses import dataclass
from enum import StrEnum

import numpy as np
import numpy.typing as npt
from scipy import stats

from analytics.kernel.discovery import benjamini_hochberg
from analytics.kernel.executions import Floats, Ints
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
    rng = np.random.default_rng(0)
    drawn = rng.multivariate_hypergeometric(runs, int(failed.sum()), size=2_000)
    share = failed.sum() / runs.sum()
    statistic = ((failed - runs * share) ** 2 / runs).sum()
    simulated = ((drawn - runs * share) ** 2 / runs).sum(axis=1)
    return float((np.count_nonzero(simulated >= statistic - 1e-9) + 1) / (len(drawn) + 1))


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
        both = bool(never.any() and always.any() and ran.max() >= 2)
        return OrderVerdict(OrderKind.OD if both else OrderKind.UNKNOWN, float("nan"), failing)
    if bad.sum() < parameters.few_failures or len(ran) < 2:
        return OrderVerdict(OrderKind.UNKNOWN, float("nan"), failing)
    p_value = _small_table_p_value(bad, ran)
    kind = OrderKind.NDOD if p_value < parameters.significance else OrderKind.NDOI
    return OrderVerdict(kind, p_value, failing)


# -- partners ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Partners:
    """Tests whose place before or after a test goes with its failing, the most telling first."""

    test: Ints
    p_value: Floats
    polluter: npt.NDArray[np.bool_]
    """True: it fails when this one ran before it. False: it passes only then (a state-setter)."""
    related: npt.NDArray[np.bool_]
    """Significant after Benjamini-Hochberg over all candidates."""


def partners(
    before: npt.NDArray[np.bool_], failed: npt.NDArray[np.bool_], parameters: Parameters = DEFAULTS
) -> Partners:
    """Candidates for the partner of an order-dependent test.

    `before` is executions x tests: whether the other test ran earlier on the same worker. For each, the table
    (before or not) x (failed or not) by Fisher's exact test; ties are broken by the strength of the association."""
    with_failed, with_passed = before[failed].sum(axis=0), before[~failed].sum(axis=0)
    failures, passes = int(failed.sum()), int((~failed).sum())
    p_value = _fisher(with_failed, with_passed, failures, passes)
    share_failed = with_failed / max(failures, 1)
    share_passed = with_passed / max(passes, 1)
    strength = np.abs(share_failed - share_passed)
    order = np.lexsort((-strength, p_value))
    related = benjamini_hochberg(p_value, len(p_value), parameters.significance)
    return Partners(order.astype(np.int64), p_value[order], (share_failed > share_passed)[order], related[order])


def _fisher(with_failed: Ints, with_passed: Ints, failures: int, passes: int) -> Floats:
    """Two-sided Fisher for many tables with the same column sums: twice the smaller hypergeometric tail, at most 1."""
    total, ran = failures + passes, with_failed + with_passed
    fewer = stats.hypergeom.cdf(with_failed, total, failures, ran)
    more = stats.hypergeom.sf(with_failed - 1, total, failures, ran)
    return np.asarray(np.minimum(1.0, 2 * np.minimum(fewer, more)))


def single_polluter_rate(polluters: int, cleaners: int) -> float:
    """The share of random orders in which a victim fails, with single polluters and cleaners: |P|/(|P|+|C|+1)."""
    return polluters / (polluters + cleaners + 1)
