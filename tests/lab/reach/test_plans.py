"""Ratios, rerun sets and detection plans: pure arithmetic, on edges and on made suites."""

from __future__ import annotations

import numpy as np
import pytest

from analytics.kernel.reruns import expected_reruns
from analytics.reach.detection_plan import (
    LEAST,
    chances,
    detection_plan,
    exposure,
    share_of,
    uniform_plan,
)
from analytics.reach.published_rates import planned_rates, published_rates
from analytics.reach.ratios import JudgedFailure, ratios
from analytics.reach.rerun_set import Candidate, rerun_set
from analytics.reach.touches import Answer

YES, NO = Answer.YES, Answer.NO


# -- ratios ------------------------------------------------------------------------------------------------------


def judged(flaky_no: int, flaky_yes: int, other_no: int, other_yes: int) -> list[JudgedFailure]:
    counts = ((NO, True, flaky_no), (YES, True, flaky_yes), (NO, False, other_no), (YES, False, other_yes))
    return [JudgedFailure(answer, flaky) for answer, flaky, count in counts for _ in range(count)]


def test_published_ratios_until_there_are_fifty_judged_failures() -> None:
    few = ratios(judged(20, 1, 1, 27))
    assert (few.no, few.yes, few.own, few.judged) == (64.0, 0.046, False, 49) and few.of(Answer.UNKNOWN) == 1
    assert not few.is_evidence, "too few, however right they are"
    own = ratios(judged(20, 1, 1, 28))
    assert (
        own.own
        and own.no == pytest.approx((20.5 / 22) / (1.5 / 30))
        and own.yes == pytest.approx((1.5 / 22) / (28.5 / 30))
    )


def test_untouched_failures_are_evidence_only_where_nearly_all_were_flaky() -> None:
    assert ratios(judged(57, 0, 3, 10)).is_evidence, "0.95"
    assert not ratios(judged(56, 0, 4, 10)).is_evidence
    assert ratios(judged(50, 0, 0, 0)).is_evidence
    assert not ratios(judged(49, 0, 0, 50)).is_evidence, "49 cases, however right they are"
    assert not ratios(judged(0, 50, 0, 50)).is_evidence, "none was untouched"


# -- rerun sets --------------------------------------------------------------------------------------------------


def candidate(number: int, **more: object) -> Candidate:
    values: dict[str, object] = {"odds": 1.0, "ratio": 1.0, "times": 3, "again": (1.0, 9.0), "seconds": 1.0, **more}
    return Candidate(number, **values)  # type: ignore[arg-type]


def test_what_clears_most_a_second_comes_first_and_the_budget_ends_it() -> None:
    slow, quick, sure = candidate(1, seconds=10.0), candidate(2, seconds=0.1), candidate(3, odds=9.0)
    found = rerun_set([slow, quick, sure], budget=3.0)
    assert [choice.candidate.number for choice in found.chosen] == [2, 3]
    assert [(choice.candidate.number, choice.why) for choice in found.left_out] == [(1, "the budget is used")]
    assert found.seconds == pytest.approx(quick.expected_seconds + sure.expected_seconds) and found.seconds <= 3


def test_what_touches_the_change_and_is_hardly_flaky_is_left_to_people() -> None:
    touching = candidate(1, odds=0.5, ratio=0.046, touches=YES)
    untouched = candidate(2, odds=0.5, ratio=64.0, touches=NO)
    broken = candidate(3, excluded="it is broken: it fails again")
    never = candidate(4, times=0)
    found = rerun_set([touching, untouched, broken, never], budget=100)
    assert [choice.candidate.number for choice in found.chosen] == [2]
    why = {choice.candidate.number: choice.why for choice in found.left_out}
    assert why[1].startswith("look at the change") and why[3].startswith("it is broken") and why[4]
    assert found.chosen[0].why == "flaky with 97%, and it does not touch the change"


def test_the_numbers_of_a_candidate_by_hand() -> None:
    one = candidate(1, odds=3.0, times=2, again=(1.0, 1.0), seconds=2.0)
    assert one.chance == 0.75 and one.clears == pytest.approx(1 - 1 / 3), "E[q^2] of a uniform q is 1/3"
    assert one.expected_seconds == pytest.approx((0.75 * expected_reruns(2, 0.5) + 0.25 * 2) * 2)
    assert one.gain == pytest.approx(0.75 * (2 / 3) / one.expected_seconds)


def test_nothing_failing_and_no_budget() -> None:
    assert rerun_set([], 10).chosen == [] and rerun_set([candidate(1)], 0).chosen == []


# -- detection plans ---------------------------------------------------------------------------------------------


def test_chances_go_by_what_a_test_uses_and_else_by_its_length() -> None:
    seconds = np.array([0.1, 0.2, 0.3, 4.0, 5.0])
    pi = chances(0.1, seconds, np.array([1.0, 0.0, np.nan, np.nan, 1.0]))
    odds = pi / (1 - pi) * 9
    assert odds.tolist() == pytest.approx([2.24, 0.131, 0.227, 2.29, 2.24]), "never both"
    assert chances(1e-9, seconds, np.full(5, np.nan)).tolist() == [LEAST] * 5


def test_exposure_is_that_of_brute_force() -> None:
    rates, weights = np.array([0.1, 0.5]), np.array([0.25, 0.75])
    expected = [0.25 * (1 - 0.9**n - 0.1**n) + 0.75 * (1 - 2 * 0.5**n) for n in range(1, 6)]
    assert exposure(rates, weights, 5)[1:].tolist() == pytest.approx(expected)
    assert exposure(rates, weights, 5)[0] == 0


def test_a_plan_keeps_its_budget_and_the_first_two_executions_come_together() -> None:
    pi, seconds = np.array([0.2, 0.2, 0.0005]), np.array([1.0, 3.0, 1.0])
    plan = detection_plan(pi, seconds, *published_rates(), 7.0)
    assert plan.seconds <= 7 and plan.executions[0] > plan.executions[1] and 1 not in plan.executions.tolist()
    assert plan.low <= plan.expected <= plan.high
    assert detection_plan(pi, seconds, *published_rates(), 1.0).executions.tolist() == [0, 0, 0]
    nothing = np.zeros(0)
    assert detection_plan(nothing, nothing, *published_rates(), 10.0).expected == 0


def test_a_plan_expects_more_than_any_other_of_small_suites() -> None:
    """Against every division of a budget among three tests of one second."""
    pi, seconds = np.array([0.3, 0.1, 0.02]), np.ones(3)
    rates, weights = np.array([0.05, 0.5]), np.array([0.5, 0.5])
    shown = exposure(rates, weights, 9)
    plan = detection_plan(pi, seconds, rates, weights, 9.0)
    best = max(
        float(pi @ shown[[first, second, 9 - first - second]]) for first in range(10) for second in range(10 - first)
    )
    assert plan.expected >= 0.97 * best


def test_uniform_rounds_for_comparison() -> None:
    assert uniform_plan(np.array([1.0, 2.0, 3.0]), 13.5).tolist() == [3, 2, 2]


def test_the_share_is_never_nothing_and_the_published_rates_are_416() -> None:
    assert share_of([False] * 9) == 0.05
    rates, weights = published_rates()
    assert weights.sum() == pytest.approx(1) and (rates > 0).all() and (rates < 1).all()
    assert (weights * 416).round(6).tolist() == (weights * 416).round().tolist()
    assert exposure(rates, weights, 100)[100] == pytest.approx(0.5932, abs=5e-4)


def test_without_rates_of_its_own_a_project_does_not_plan_with_short_tests_alone() -> None:
    """By the published rates alone, short tests would take all of the budget, as often as that goes."""
    seconds, pi = np.array([0.01] * 30 + [1.0]), np.full(31, 0.02)
    alone, planned = (
        detection_plan(pi, seconds, *rates(), 40.0).executions for rates in (published_rates, planned_rates)
    )
    assert planned_rates()[1].sum() == pytest.approx(1)
    assert alone[-1] == 0 and planned[-1] >= 2
