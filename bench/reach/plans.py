"""Detection plans on suites with known flaky tests, against as many executions of every test in the same seconds."""

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from analytics.kernel.executions import Floats, Ints
from analytics.reach.detection_plan import chances, detection_plan, uniform_plan
from analytics.reach.published_rates import planned_rates
from bench.outcome import Outcome

FLAKY, STABLE, SUITES = 26, 600, 20
BUDGETS = (0.5, 1.0, 2.0, 3.0, 5.0)
"""In durations of the whole suite."""
_RATES = (0.05, 0.60)
"""Of the kit's tests."""
_KNOWN = 25
"""Flaky tests that the project knows already, of the same kind: their rates are planned with."""
_SOME = 0.01
"""One round finds nothing, but for rounding."""
_TRACED = 0.5
_EXPOSED = (0.4346, 0.929)
"""Shares of stable and of flaky tests that use a telling source: of all tests 41.46 %, of flaky ones 92.9 %."""


class Suite(NamedTuple):
    rates: Floats
    """Of failure; 0 for a stable test."""
    seconds: Floats
    exposed: Floats
    """1 or 0 by what a test uses, NaN where that was not recorded."""


def made_suite(draw: np.random.Generator, longer: float = 0.0) -> Suite:
    """26 tests with the kit's rates among stable ones of the same shape. Durations spread over orders of magnitude,
    half of the tests are recorded, and what they use tells as much as was published. `longer` is how much longer flaky
    tests are than others, as a logarithm."""
    is_flaky = np.arange(FLAKY + STABLE) < FLAKY
    rates = np.where(is_flaky, draw.uniform(*_RATES, len(is_flaky)), 0.0)
    seconds = np.exp(draw.normal(np.where(is_flaky, longer - 3.5, -3.5), 1.5))
    exposed = (draw.random(len(is_flaky)) < np.where(is_flaky, _EXPOSED[1], _EXPOSED[0])).astype(np.float64)
    exposed[draw.random(len(is_flaky)) > _TRACED] = np.nan
    return Suite(rates, seconds, exposed)


def found(suite: Suite, executions: Ints) -> float:
    """Flaky tests that so many executions show, on average."""
    rates = suite.rates[suite.rates > 0]
    times = executions[suite.rates > 0]
    shown = np.where(times > 0, 1 - (1 - rates) ** times - rates**times, 0.0)
    return float(np.maximum(shown, 0.0).sum())


def compared(
    suites: int = SUITES, seed: int = 3, *, longer: float = 0.0, own: bool = True
) -> list[tuple[float, float, float]]:
    """Budget, and what plan and uniform rounds find, over all suites; by the project's own rates, or the published."""
    totals = []
    for budget in BUDGETS:
        by_plan = by_rounds = 0.0
        draw = np.random.default_rng(seed)
        for _ in range(suites):
            suite = made_suite(draw, longer)
            known = draw.uniform(*_RATES, _KNOWN)
            rates, weights = (known, np.full(_KNOWN, 1 / _KNOWN)) if own else planned_rates()
            seconds = budget * float(suite.seconds.sum())
            pi = chances(FLAKY / (FLAKY + STABLE), suite.seconds, suite.exposed)
            by_plan += found(suite, detection_plan(pi, suite.seconds, rates, weights, seconds).executions)
            by_rounds += found(suite, uniform_plan(suite.seconds, seconds))
        totals.append((budget, by_plan / suites, by_rounds / suites))
    return totals


def run() -> Iterable[Outcome]:
    totals = compared()
    for budget, by_plan, by_rounds in totals:
        what = (
            f"detection plan, {budget:g} times the suite's seconds: found of {FLAKY} (uniform rounds {by_rounds:.1f})"
        )
        yield Outcome(what, by_plan, least=by_rounds)
    many = f"detection plan, {len(totals)} budgets: found, against uniform rounds"
    yield Outcome(many, _ratio(totals), "times", least=1.5)
    unlike = compared(longer=1.5, own=False)
    what = f"{many}, flaky tests far longer and rates unlike those planned with"
    yield Outcome(what, _ratio(unlike), "times", least=1.4)
    least = min(by_plan / by_rounds for _, by_plan, by_rounds in unlike if by_rounds > _SOME)
    yield Outcome(f"{what}, the budget with the fewest", least, "times", least=1.0)


def _ratio(totals: list[tuple[float, float, float]]) -> float:
    return sum(row[1] for row in totals) / sum(row[2] for row in totals)
