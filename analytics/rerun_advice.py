"""Of one test: how many reruns for what, how sure that is, and what they cost."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import scipy

from analytics.columns.codec import Columns
from analytics.columns.formulas import RERUN_STATES
from analytics.columns.rows import Interval, TestRow, test_row
from analytics.kernel.parameters import DEFAULTS
from analytics.kernel.reruns import Beta, expected_executions, expected_reruns, exposed

_CURVE = (1, 2, 3, 5, 10, 15, 20, 30, 50, 75, 100, 150, 200, 300, 500, 750, 1_000)
_MOST_COUNTED = 1_000_000
"""The cost of exposing a test is a sum over so many executions at most; beyond them nobody would run it anyway."""


@dataclass(frozen=True, slots=True)
class Exposure:
    """U(n): the chance that n executions show a pass and a failure."""

    n: int
    chance: float


@dataclass(frozen=True, slots=True)
class RerunCost:
    """Executions to expect, and the seconds that they take; None where that is not known."""

    executions: float | None
    seconds: float | None


@dataclass(frozen=True, slots=True)
class RerunAdvice:
    row: TestRow
    fails_again: Interval | None
    """q, the chance that a rerun after a failure fails too, with its credible interval; None for no advice."""
    exposure: tuple[Exposure, ...]
    get_past: RerunCost
    expose: RerunCost
    confirm: RerunCost


def rerun_advice(
    columns: Columns, number: int, priors: Mapping[str, Sequence[float]], confidence: float
) -> RerunAdvice:
    """Advise on rerunning a test, with the `priors` (by context) and `confidence` of its analysis."""
    row = test_row(columns, number)
    has_advice = row.state in RERUN_STATES
    a, b = priors.get(row.again.context, DEFAULTS.fallback_prior)
    q = _fails_again(row, (a, b), confidence) if has_advice else None
    ran = row.attempts
    seen = max(ran.executed + row.skipped, 1)
    p_pass, p_fail = (ran.executed - ran.failed) / seen, ran.failed / seen
    return RerunAdvice(
        row=row,
        fails_again=q,
        exposure=_exposure(p_pass, p_fail, row.reruns.to_expose) if has_advice else (),
        get_past=_get_past(row.reruns.to_get_past, q, row.seconds),
        expose=_expose(row.reruns.to_expose, p_pass, p_fail, row.seconds),
        confirm=_cost(row.reruns.to_confirm, row.seconds),
    )


def _fails_again(row: TestRow, prior: Beta, confidence: float) -> Interval:
    a, b = row.again.failed + prior[0], row.again.of - row.again.failed + prior[1]
    tail = (1 - confidence) / 2
    low, high = scipy.special.betaincinv(a, b, (tail, 1 - tail))
    return Interval(a / (a + b), float(low), float(high))


def _exposure(p_pass: float, p_fail: float, needed: int | None) -> tuple[Exposure, ...]:
    at = sorted({*_CURVE, *([] if needed is None else [needed])})
    chances = exposed(np.array(at), p_pass, p_fail)
    return tuple(Exposure(n, chance) for n, chance in zip(at, chances.tolist(), strict=True))


def _get_past(needed: int | None, q: Interval | None, seconds: float | None) -> RerunCost:
    """Reruns that end with the first pass, at most `needed` of them."""
    if needed is None or q is None:
        return RerunCost(None, None)
    return _cost(expected_reruns(needed, q.value), seconds)


def _expose(needed: int | None, p_pass: float, p_fail: float, seconds: float | None) -> RerunCost:
    if needed is None or needed > _MOST_COUNTED:
        return RerunCost(None, None)
    return _cost(expected_executions(needed, p_pass, p_fail), seconds)


def _cost(executions: float | None, seconds: float | None) -> RerunCost:
    return RerunCost(executions, None if executions is None or seconds is None else executions * seconds)
