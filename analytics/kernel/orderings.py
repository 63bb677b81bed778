"""Section 7 put together: for each flaky test, what its orders tell, and who may be its partner."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from analytics.kernel.executions import Executions, Flags, Ints
from analytics.kernel.orders import OrderVerdict, Partners, order_verdict, partners
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


NO_PARTNERS = Partners(np.zeros(0, np.int64), np.zeros(0), np.zeros(0, bool), np.zeros(0, bool))


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
        mine = _Rows(order[ran.report[rows]], failed[rows], int(failing[place]))
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
    found, explained = NO_PARTNERS, False
    if len(orders):
        known = np.array([len(orders[one]) > 0 for one in mine.order.tolist()], dtype=bool)
        before = before_matrix(orders, mine.order[known], mine.test, tests)
        found = partners(before, mine.failed[known], parameters)
    return OrderFinding(place, verdict, len(runs), len(mine.order), found, np.zeros(0, np.int64), explained)


def before_matrix(orders: Sequence[Ints], order: Ints, test: int, tests: int) -> Flags:
    """Executions x tests: whether the other test ran earlier on the same worker."""
    which, at = np.unique(order, return_inverse=True)
    before = np.zeros((len(which), tests), dtype=bool)
    for row, one in enumerate(which.tolist()):
        sequence = orders[one]
        before[row, sequence[: int(np.argmax(sequence == test))]] = True
    return np.asarray(before[at])
