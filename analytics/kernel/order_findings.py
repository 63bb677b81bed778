"""Order dependence of each flaky test, and its likely partners. See docs/concepts.md#order-dependence."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from analytics.kernel.executions import Executions, Flags, Ints
from analytics.kernel.orders import (
    NO_PARTNERS,
    OrderKind,
    OrderVerdict,
    Partners,
    before_matrix,
    between_matrix,
    cleaners,
    deciding_partners,
    order_verdict,
    partners,
    single_polluter_rate,
)
from analytics.kernel.parameters import DEFAULTS, Parameters
from analytics.kernel.parts import ChosenTests, rows_where


@dataclass(frozen=True, slots=True)
class OrderFinding:
    place: int
    verdict: OrderVerdict
    orders: int
    """Distinct orders that it ran in."""
    executions: int
    """Executions in a known order."""
    partners: Partners
    """Test numbers, the most significant first; none if there are too few orders."""
    cleaners: Ints
    explained: bool
    """It failed exactly when its first partner, without a cleaner after it, predicts so."""

    @property
    def in_random_orders(self) -> float:
        """The share of random orders in which it would fail; NaN unless polluters and cleaners explain it."""
        if not (self.explained and self.partners.polluter[0]):
            return float("nan")
        polluters = np.count_nonzero(self.partners.related & self.partners.polluter)
        return single_polluter_rate(int(polluters), len(self.cleaners))


def order_findings(
    executions: Executions | ChosenTests,
    order: Ints,
    orders: Sequence[Ints],
    failing: Ints,
    parameters: Parameters = DEFAULTS,
    *,
    steady: Flags | None = None,
) -> tuple[OrderFinding, ...]:
    """The finding for each test that failed in a known order (`order` by report; `failing` are test numbers).

    Only first attempts count: a retry runs after the others, whatever the order. Reports that are `steady` are of
    experiments, each at one revision: what passed in them counts even before its first failure."""
    fixed = np.zeros(len(order), dtype=bool) if steady is None else steady
    ran = rows_where(executions, lambda part: part.executed & (part.ordinal == 0) & (order[part.report] >= 0))
    bounds = np.searchsorted(ran.test, np.arange(ran.tests + 1))
    tests = 1 + max((int(sequence.max(initial=-1)) for sequence in orders), default=-1)
    budget = parameters.partner_cells
    found = []
    failed = ran.failing
    bad = ran.count(failed)
    for place in np.argsort(-bad, kind="stable")[: np.count_nonzero(bad)].tolist():
        rows = slice(bounds[place], bounds[place + 1])
        every = _Rows(order[ran.report[rows]], failed[rows], int(failing[place]), fixed[ran.report[rows]])
        flaky_rows = every.while_flaky()
        cost = len(flaky_rows.order) * tests
        search = flaky_rows.worth_searching(orders, parameters) and cost <= budget
        budget -= cost if search else 0
        finding = _finding(place, flaky_rows, orders if search else (), tests, parameters)
        if finding.verdict.kind is OrderKind.UNKNOWN and len(every.order) <= parameters.few_executions:
            finding = _decided(finding, every, orders, tests, parameters)
        found.append(finding)
    return tuple(sorted(found, key=lambda finding: finding.place))


@dataclass(frozen=True, slots=True)
class _Rows:
    """One test's executions in known orders."""

    order: Ints
    failed: Flags
    test: int
    steady: Flags

    def where(self, chosen: Flags) -> "_Rows":
        return _Rows(self.order[chosen], self.failed[chosen], self.test, self.steady[chosen])

    def while_flaky(self) -> "_Rows":
        """From its first to its last failure: orders change over time, so passes before it was flaky or after it was
        fixed would reveal that and not its dependence on order."""
        bad = np.flatnonzero(self.failed)
        rows = np.arange(len(self.failed))
        return self.where((rows >= bad[0]) & (rows <= bad[-1]) | self.steady)

    def worth_searching(self, orders: Sequence[Ints], parameters: Parameters) -> bool:
        known = [order for order in np.unique(self.order).tolist() if len(orders[order])]
        return len(known) >= parameters.partner_orders and self.failed.sum() >= parameters.few_failures

    def by_order(self) -> tuple[Ints, Ints]:
        """Failures and executions of each order."""
        _, at = np.unique(self.order, return_inverse=True)
        runs = np.bincount(at)
        return np.bincount(at, weights=self.failed, minlength=len(runs)).astype(np.int64), runs.astype(np.int64)


def _finding(place: int, rows: _Rows, orders: Sequence[Ints], tests: int, parameters: Parameters) -> OrderFinding:
    failed, runs = rows.by_order()
    verdict = order_verdict(failed, runs, parameters)
    if not len(orders):
        return OrderFinding(place, verdict, len(runs), len(rows.order), NO_PARTNERS, np.zeros(0, np.int64), False)
    known = rows.where(np.array([len(orders[order]) > 0 for order in rows.order.tolist()], dtype=bool))
    before = before_matrix(orders, known.order, rows.test, tests)
    found = partners(before, known.failed, parameters)
    cleaning = _cleaners(known, found, orders, tests, parameters)
    explained = _explained(known, found, before, cleaning, orders, tests)
    if explained and verdict.kind is OrderKind.UNKNOWN:
        verdict = replace(verdict, kind=OrderKind.OD)  # no order repeats, but a partner decides all of them
    return OrderFinding(place, verdict, len(runs), len(rows.order), found, cleaning, explained)


def _decided(
    finding: OrderFinding, every: _Rows, orders: Sequence[Ints], tests: int, parameters: Parameters
) -> OrderFinding:
    """With little data: a partner that decides all executions, including those outside its flaky period."""
    known = every.where(np.array([len(orders[order]) > 0 for order in every.order.tolist()], dtype=bool))
    if known.failed.sum() < parameters.few_failures or known.failed.all():
        return finding
    found = deciding_partners(before_matrix(orders, known.order, every.test, tests), known.failed, parameters)
    if not len(found.test):
        return finding
    verdict = replace(finding.verdict, kind=OrderKind.OD, p_value=float(found.p_value[0]))
    distinct_orders = len(np.unique(known.order))
    return replace(
        finding, verdict=verdict, orders=distinct_orders, executions=len(known.order), partners=found, explained=True
    )


def _cleaners(rows: _Rows, found: Partners, orders: Sequence[Ints], tests: int, parameters: Parameters) -> Ints:
    """The cleaners of a victim's first polluter."""
    if not (found.related[:1].any() and found.polluter[0]):
        return np.zeros(0, dtype=np.int64)
    ranked = cleaners(orders, rows.order, rows.failed, rows.test, int(found.test[0]), tests, parameters)
    return ranked.test[ranked.related]


def _explained(rows: _Rows, found: Partners, before: Flags, cleaning: Ints, orders: Sequence[Ints], tests: int) -> bool:
    """Whether it failed exactly when a polluter without a later cleaner, or no state-setter, ran before it."""
    if not found.related[:1].any():
        return False
    if not found.polluter[0]:
        setters = found.test[found.related & found.state_setter]
        return bool(np.array_equal(~before[:, setters].any(axis=1), rows.failed))
    polluters = found.test[found.related & found.polluter]
    if np.array_equal(before[:, polluters].any(axis=1), rows.failed):
        return True
    first = int(found.test[0])
    cleaned = between_matrix(orders, rows.order, first, rows.test, tests)[:, cleaning].any(axis=1)
    return bool(np.array_equal(before[:, first] & ~cleaned, rows.failed))
