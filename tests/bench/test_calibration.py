"""Reruns by the true chain: exact values, and the same by playing it."""

import numpy as np
import pytest

from analytics.kernel.reruns import NEVER
from bench import calibration
from bench.calibration import Advice
from tests.analytics import brute

CHAINS = np.array([0.0, 0.04, 0.2, 0.5, 0.9])


def advice(**columns: list[float]) -> Advice:
    size = len(columns["again"])
    usual = {
        "clean": [0.05] * size,
        "enough": [29.0] * size,
        "to_get_past": [1] * size,
        "to_confirm": [29] * size,
        "failures": [1] * size,
        "pairs": [0] * size,
        "bursty": [False] * size,
        "fixed": [False] * size,
    }
    return Advice(**{name: np.array(values) for name, values in {**usual, **columns}.items()})


def played(again: float, most: int, times: int = 20_000) -> tuple[float, float]:
    """Share that passed within so many reruns, and reruns spent, by chance."""
    fails = np.random.default_rng(2).random((times, most)) < again
    stuck = np.cumprod(fails, axis=1)
    return 1 - stuck[:, -1].mean(), 1 + stuck[:, :-1].sum(axis=1).mean()


@pytest.mark.parametrize("again", CHAINS)
@pytest.mark.parametrize("most", [1, 3, 8])
def test_what_reruns_clear_and_spend_is_what_playing_them_shows(again: float, most: int) -> None:
    share, reruns = played(again, most)
    assert calibration.cleared(np.array([again]), np.array([most]))[0] == pytest.approx(share, abs=0.02)
    assert calibration.spent(np.array([again]), np.array([most]))[0] == pytest.approx(reruns, abs=0.1)


def test_a_test_that_never_passes_spends_every_rerun() -> None:
    assert calibration.spent(np.array([1.0]), np.array([7]))[0] == 7
    assert calibration.oracle(np.array([1.0]), 0.95)[0] == np.inf


def test_the_oracle_is_the_least_number_that_is_enough() -> None:
    best = calibration.oracle(CHAINS, 0.95)
    assert best.tolist() == [brute.reruns_to_get_past(q, 0.95) for q in CHAINS]
    assert (calibration.cleared(CHAINS, best) >= 0.95).all()
    assert (calibration.cleared(CHAINS[1:], best[1:] - 1) < 0.95).all()


def test_failures_weigh_by_how_many_there_are_and_silence_weighs_nothing() -> None:
    given = advice(again=[0.5, 0.0, 0.9], to_get_past=[1, 1, NEVER], failures=[3, 1, 50])
    assert calibration.share_cleared(given) == pytest.approx((3 * 0.5 + 1) / 4)


def test_too_few_reruns_clear_too_little() -> None:
    assert calibration.share_cleared(advice(again=[0.5], to_get_past=[4])) < 0.95
    assert calibration.share_cleared(advice(again=[0.5], to_get_past=[5])) >= 0.95


def test_spending_is_compared_where_both_have_a_number() -> None:
    given = advice(again=[0.5, 0.5, 0.99], to_get_past=[10, NEVER, 3], failures=[2, 9, 9])
    spent, allowed = calibration.times_oracle(given, 0.95, 20)
    assert spent == pytest.approx((1 - 0.5**10) / (1 - 0.5**5))
    assert allowed == 2.0


def test_advice_that_an_oracle_has_and_we_have_not() -> None:
    given = advice(again=[0.5, 0.2, 0.99], to_get_past=[NEVER, 2, NEVER], failures=[1, 3, 9])
    assert calibration.withheld(given, 0.95, 20) == 0.25


def test_only_unfixed_tests_can_be_confirmed_falsely() -> None:
    given = advice(
        again=[0.0] * 4, clean=[0.05, 0.25, 1.0, 1.0], to_confirm=[9, 9, 9, NEVER], fixed=[False, False, True, False]
    )
    assert calibration.falsely_confirmed(given) == pytest.approx(0.15)


def test_clean_runs_asked_for_beside_those_that_are_enough() -> None:
    given = advice(again=[0.0] * 4, to_confirm=[20, 30, 90, NEVER], enough=[10.0, 10.0, np.inf, 10.0])
    assert calibration.times_enough(given) == 2.5


def test_nothing_advised_is_no_share() -> None:
    nothing = advice(again=[0.5], to_get_past=[NEVER], to_confirm=[NEVER])
    assert np.isnan(calibration.share_cleared(nothing)) and np.isnan(calibration.falsely_confirmed(nothing))
    assert np.isnan(calibration.times_oracle(nothing, 0.95, 20)).all()


def test_advice_of_many_histories_is_one() -> None:
    both = calibration.together([advice(again=[0.1]), advice(again=[0.2, 0.3])])
    assert both.again.tolist() == [0.1, 0.2, 0.3] and len(both.fixed) == 3
