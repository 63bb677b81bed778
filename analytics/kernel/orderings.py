"""Section 7 put together: for each flaky test, what its orders tell, and who may be its partner."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from analytics.kernel.executions import Executions, Flags, Ints
from analytics.kernel.orders import (
    OrderKind,
    OrderVerdict,
    Partners,
    before_matrix,
    between_matrix,
    cleaners,
    order_verdict,
    partners,
    single_polluter_rate,
)
from analytics.kernel.parameters import DEFAULTS, Parameters


@dataclass(frozen=True, slots=True)
class OrderFinding:
    place: int
    verdict: OrderVerdict
    orders: int
    """Different orders that it ran in."""
    executions: int
    """Executions in a known order."""
    partners: Partners
    """Test numbers, the most telling first; none where there are too few orders to tell."""
    cleaners: Ints
    explained: bool
    """It failed exactly when its first partner, and no cleaner after it, says that it should."""

    @property
    def in_random_orders(self) -> float:
        """The share of random orders in which it would fail; NaN unless polluters and cleaners explain it."""
        if not (self.explained and self.partners.polluter[0]):
            return float("nan")
        polluters = np.count_nonzero(self.partners.related & self.partners.polluter)
        return single_polluter_rate(int(polluters), len(self.cleaners))


NO_PARTNERS = Partners(*(np.zeros(0, kind) for kind in (np.int64, np.float64, bool, bool, np.int64)))


def order_findings(
    executions: Executions, order: Ints, orders: Sequence[Ints], failing: Ints, parameters: Parameters = DEFAULTS
) -> tuple[OrderFinding, ...]:
    """Of each test that failed in a known order (`order` by report; `failing` has the numbers of the tests).

    First attempts alone: a retry runs after the others, whatever the order."""
    ran = executions.where(executions.executed & (executions.ordinal == 0) & (order[executions.report] >= 0))
    bounds = np.searchsorted(ran.test, np.arange(ran.tests + 1))
    tests = 1 + max((int(one.max(initial=-1)) for one in orders), default=-1)
    budget = parameters.partner_cells
    found = []
    failed = ran.failing
    bad = ran.count(failed)
    for place in np.argsort(-bad, kind="stable")[: np.count_nonzero(bad)].tolist():
        rows = slice(bounds[place], bounds[place + 1])
        mine = _Rows(order[ran.report[rows]], failed[rows], int(failing[place])).while_flaky()
        cost = len(mine.order) * tests
        search = mine.worth_searching(orders, parameters) and cost <= budget
        budget -= cost if search else 0
        found.append(_finding(place, mine, orders if search else (), tests, parameters))
    return tuple(sorted(found, key=lambda finding: finding.place))


@dataclass(frozen=True, slots=True)
class _Rows:
    """One test's executions in known orders."""

    order: Ints
    failed: Flags
    test: int

    def where(self, chosen: Flags) -> "_Rows":
        return _Rows(self.order[chosen], self.failed[chosen], self.test)

    def while_flaky(self) -> "_Rows":
        """From its first to its last failure: orders come and go, and passes before it was flaky or after it was fixed
        would tell of them and not of it."""
        bad = np.flatnonzero(self.failed)
        span = slice(int(bad[0]), int(bad[-1]) + 1)
        return _Rows(self.order[span], self.failed[span], self.test)

    def worth_searching(self, orders: Sequence[Ints], parameters: Parameters) -> bool:
        known = [one for one in np.unique(self.order).tolist() if len(orders[one])]
        return len(known) >= parameters.partner_orders and self.failed.sum() >= parameters.few_failures

    def by_order(self) -> tuple[Ints, Ints]:
        """Failures and executions of each order."""
        _, at = np.unique(self.order, return_inverse=True)
        runs = np.bincount(at)
        return np.bincount(at, weights=self.failed, minlength=len(runs)).astype(np.int64), runs.astype(np.int64)


def _finding(place: int, mine: _Rows, orders: Sequence[Ints], tests: int, parameters: Parameters) -> OrderFinding:
    failed, runs = mine.by_order()
    verdict = order_verdict(failed, runs, parameters)
    if not len(orders):
        return OrderFinding(place, verdict, len(runs), len(mine.order), NO_PARTNERS, np.zeros(0, np.int64), False)
    known = mine.where(np.array([len(orders[one]) > 0 for one in mine.order.tolist()], dtype=bool))
    before = before_matrix(orders, known.order, mine.test, tests)
    found = partners(before, known.failed, parameters)
    cleaning = _cleaners(known, found, orders, tests, parameters)
    explained = _explained(known, found, before, cleaning, orders, tests)
    if explained and verdict.kind is OrderKind.UNKNOWN:
        verdict = replace(verdict, kind=OrderKind.OD)  # no order came twice, but a partner decides in all of them
    return OrderFinding(place, verdict, len(runs), len(mine.order), found, cleaning, explained)


def _cleaners(mine: _Rows, found: Partners, orders: Sequence[Ints], tests: int, parameters: Parameters) -> Ints:
    """Of a victim's first polluter."""
    if not (found.related[:1].any() and found.polluter[0]):
        return np.zeros(0, dtype=np.int64)
    told = cleaners(orders, mine.order, mine.failed, mine.test, int(found.test[0]), tests, parameters)
    return told.test[told.related]


def _explained(mine: _Rows, found: Partners, before: Flags, cleaning: Ints, orders: Sequence[Ints], tests: int) -> bool:
    """Whether it failed exactly when a polluter, and no cleaner after it, or no state-setter was before it."""
    if not found.related[:1].any():
        return False
    if not found.polluter[0]:
        setters = found.test[found.related & found.state_setter]
        return bool(np.array_equal(~before[:, setters].any(axis=1), mine.failed))
    polluters = found.test[found.related & found.polluter]
    if np.array_equal(before[:, polluters].any(axis=1), mine.failed):
        return True
    first = int(found.test[0])
    cleaned = between_matrix(orders, mine.order, first, mine.test, tests)[:, cleaning].any(axis=1)
    return bool(np.array_equal(before[:, first] & ~cleaned, mine.failed))
