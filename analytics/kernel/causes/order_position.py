"""Whether a test fails when it runs early or late: warm-up, or something that earlier tests used up.

See docs/concepts.md#passive-causes."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy

from analytics.kernel.executions import Executions, Flags, Floats, Ints
from analytics.kernel.order_findings import OrderFinding
from analytics.kernel.orders import OrderKind
from analytics.kernel.parameters import DEFAULTS, Parameters


@dataclass(frozen=True, slots=True)
class PositionFinding:
    """Failing executions are earlier, or later, in their orders than passing ones."""

    test: int
    late: bool
    failing: float
    """Median position, 0 for the first test of an order and 1 for the last."""
    passing: float
    failed: int
    passed: int
    p_value: float

    def __str__(self) -> str:
        where = "later" if self.late else "earlier"
        means = "something that earlier tests use up" if self.late else "something that is not ready yet"
        return (
            f"it fails when it runs {where}: {self.failed} failures at {self.failing:.0%} of the order (median), "
            f"{self.passed} passes at {self.passing:.0%} (p = {self.p_value:.2g}), as with {means}"
        )


@dataclass(frozen=True, slots=True)
class PositionFindings:
    found: tuple[PositionFinding, ...]
    judged: Flags
    """By test: there was enough data to look."""


def position_findings(
    executions: Executions,
    order: Ints,
    orders: Sequence[Ints],
    failing: Ints,
    known: Sequence[OrderFinding],
    parameters: Parameters = DEFAULTS,
) -> PositionFindings:
    """By Mann-Whitney on the position, of tests whose rates differ between orders and that no partner explains.

    Benjamini-Hochberg over all tests that are asked about."""
    ran = executions.where(executions.executed & (executions.ordinal == 0) & (order[executions.report] >= 0))
    bounds = np.searchsorted(ran.test, np.arange(ran.tests + 1))
    judged = np.zeros(executions.tests, dtype=bool)
    tried: list[PositionFinding] = []
    for finding in known:
        if finding.verdict.kind is not OrderKind.NDOD or finding.partners.related.any():
            continue
        rows = slice(bounds[finding.place], bounds[finding.place + 1])
        where = positions(order[ran.report[rows]], orders, int(failing[finding.place]))
        bad = ran.failing[rows]
        compared = _compared(finding.place, where, bad, parameters)
        if compared is not None:
            judged[finding.place] = True
            tried.append(compared)
    if not tried:
        return PositionFindings((), judged)
    adjusted = scipy.stats.false_discovery_control([finding.p_value for finding in tried])
    kept = [finding for finding, p in zip(tried, adjusted, strict=True) if p <= parameters.significance]
    return PositionFindings(tuple(kept), judged)


def positions(order_of_execution: Ints, orders: Sequence[Ints], test: int) -> Floats:
    """Where the test stood in the order of each execution, 0 to 1; NaN where that is not known."""
    where = {}
    for number in np.unique(order_of_execution).tolist():
        at = np.flatnonzero(orders[number] == test)
        where[number] = at[0] / max(len(orders[number]) - 1, 1) if len(at) else np.nan
    return np.array([where[number] for number in order_of_execution.tolist()], dtype=np.float64)


def _compared(place: int, where: Floats, bad: Flags, parameters: Parameters) -> PositionFinding | None:
    """None where there is not enough data."""
    known = ~np.isnan(where)
    failed, passed = where[known & bad], where[known & ~bad]
    if min(len(failed), len(passed)) < parameters.few_failures or len(np.unique(where[known])) < 2:
        return None
    result = scipy.stats.mannwhitneyu(failed, passed, alternative="two-sided")
    late = float(result.statistic) > len(failed) * len(passed) / 2
    medians = float(np.median(failed)), float(np.median(passed))
    return PositionFinding(place, late, *medians, len(failed), len(passed), float(result.pvalue))
