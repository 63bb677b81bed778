"""Section 5, of suites: how the flaky tests of a suite hang together, by its bounds max f <= TSR <= sum f (Lam6)."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from analytics.kernel.clusters import relation
from analytics.kernel.executions import Executions, Flags, Floats, Ints, distinct
from analytics.kernel.parameters import DEFAULTS, Parameters
from analytics.kernel.rates import Rates, rates_of


@dataclass(frozen=True, slots=True)
class SuiteBounds:
    """One row a suite with flaky tests."""

    suite: Ints
    tests: Ints
    rate: Rates
    """Runs in which a flaky test of it failed, of runs in which one ran."""
    highest: Floats
    total: Floats
    """The highest and the sum of its flaky tests' rates, by runs: the bounds."""
    relation: tuple[str, ...]


def suite_bounds(
    executions: Executions, flaky: Flags, suite: Ints, run: Ints, parameters: Parameters = DEFAULTS
) -> SuiteBounds:
    """`executions` of flaky tests; `flaky` and `suite` by test, `run` by report.

    Rates are by run, like the suite's own, so that the bounds hold whatever retries there were."""
    ran = executions.where(executions.executed & flaky[executions.test])
    runs = max(int(run.max(initial=-1)) + 1, 1)
    suites, tests = np.unique(suite[flaky], return_counts=True)
    place = np.searchsorted(suites, suite)
    bad = _runs_of(place[ran.test[ran.failing]], run[ran.report[ran.failing]], runs, len(suites))
    all_ = _runs_of(place[ran.test], run[ran.report], runs, len(suites))
    own = _runs_of(ran.test[ran.failing], run[ran.report[ran.failing]], runs, ran.tests)[flaky]
    rate = rates_of(bad, all_, parameters)
    share = own / np.maximum(all_[place[flaky]], 1)
    highest, total = np.zeros(len(suites)), np.bincount(place[flaky], weights=share, minlength=len(suites))
    np.maximum.at(highest, place[flaky], share)
    told = tuple(
        relation(int(count), top, whole, float(mine))
        for count, top, whole, mine in zip(tests, highest, total, np.nan_to_num(rate.rate), strict=True)
    )
    return SuiteBounds(suites.astype(np.int64), tests.astype(np.int64), rate, highest, total.astype(np.float64), told)


def _runs_of(owner: npt.NDArray[np.integer], run: Ints, runs: int, owners: int) -> Ints:
    """In how many runs each owner is."""
    cells = distinct(owner.astype(np.int64) * runs + run)
    return np.bincount(cells // runs, minlength=owners).astype(np.int64)
