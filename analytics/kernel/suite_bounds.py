"""How the flaky tests of a suite relate, by the bounds max f <= TSR <= sum f (Lam6).

See docs/concepts.md#suite-bounds."""

from dataclasses import dataclass

import numpy as np

from analytics.kernel.clusters import relation
from analytics.kernel.executions import Executions, Flags, Floats, Ints, distinct, distinct_per
from analytics.kernel.parameters import DEFAULTS, Parameters
from analytics.kernel.parts import ChosenTests, parts, rows_where
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
    executions: Executions | ChosenTests, flaky: Flags, suite: Ints, run: Ints, parameters: Parameters = DEFAULTS
) -> SuiteBounds:
    """`executions` of flaky tests; `flaky` and `suite` by test, `run` by report.

    Rates are by run, like the suite's own, so that the bounds hold whatever retries there were."""
    suites, tests = np.unique(suite[flaky], return_counts=True)
    place = np.searchsorted(suites, suite)
    bad_rows = rows_where(executions, lambda part: part.failing)
    bad_rows = bad_rows.where(flaky[bad_rows.test])
    failed, failed_run = bad_rows.test, run[bad_rows.report]
    bad = distinct_per(place[failed], failed_run, len(suites))
    all_ = _runs(executions, flaky, place, run, len(suites))
    own = distinct_per(failed, failed_run, executions.tests)[flaky]
    rate = rates_of(bad, all_, parameters)
    share = own / np.maximum(all_[place[flaky]], 1)
    highest, total = np.zeros(len(suites)), np.bincount(place[flaky], weights=share, minlength=len(suites))
    np.maximum.at(highest, place[flaky], share)
    relations = tuple(
        relation(int(count), top, whole, float(own_rate))
        for count, top, whole, own_rate in zip(tests, highest, total, np.nan_to_num(rate.rate), strict=True)
    )
    return SuiteBounds(
        suites.astype(np.int64), tests.astype(np.int64), rate, highest, total.astype(np.float64), relations
    )


def _runs(executions: Executions | ChosenTests, flaky: Flags, place: Ints, run: Ints, suites: int) -> Ints:
    """By suite: runs in which one of its flaky tests was executed."""
    size = int(run.max(initial=-1)) + 2
    cells = [np.zeros(0, dtype=np.int64)]
    for part in parts(executions):
        ran = part.executions
        ran = ran.where(ran.executed & flaky[part.tests][ran.test])
        cells.append(distinct(place[part.tests][ran.test].astype(np.int64) * size + run[ran.report] + 1))
    return np.bincount(distinct(np.concatenate(cells)) // size, minlength=suites).astype(np.int64)


_GENERIC = frozenset(
    {"", "pytest", "unittest", "junit", "surefire", "gradle", "jest tests", "mocha tests", "root suite"}
)
"""Names that producers give to everything they run: they tell nothing apart."""


def suite_of(suite: str, classname: str) -> str:
    """The suite's name where it has one of its own, else the class's module: the class name up to its last dot."""
    if suite.strip().lower() not in _GENERIC:
        return suite
    return classname.rpartition(".")[0] or classname
