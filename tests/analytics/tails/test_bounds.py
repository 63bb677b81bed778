"""Bounds, how often a bound fails, and what is proposed, where the truth is known."""

import numpy as np
import pytest
import scipy
from hypothesis import example, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from scipy import stats

from analytics.kernel.executions import Floats
from analytics.kernel.tails import proposals
from analytics.kernel.tails.answers import Answer, Question, answer
from analytics.kernel.tails.bounds import _by_counting, _by_fit
from analytics.kernel.tails.box_cox import box_cox_of
from analytics.kernel.tails.fits import Tail, fit_tail
from analytics.kernel.tails.proposals import SHARE, VALUE, Proposal, outwards, propose
from analytics.kernel.tails.recency import start_of_current

SCORES = (np.arange(1, 201) - 0.5) / 200
FAR = Question("<", 1e9)


def normal(n: int, seed: int = 1) -> Floats:
    return np.random.default_rng(seed).normal(size=n)


def proposal(values: Floats, op: str, bound: float, measure: str = VALUE) -> Proposal:
    question = Question(op, bound)
    return propose(values, question, answer(values, question), measure)


# -- oracles -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("shape", "quantile"), [(0.1, 12.6979), (0.0, 10.2103), (-0.5, 4.6)])
def test_quantile_of_a_known_tail(shape: float, quantile: float) -> None:
    """Threshold 1, scale 2, a tenth of the values above it: what 1 in 1,000 exceed."""
    one = np.ones(1)
    tail = Tail(1.0, 1_000, 100, shape, 2.0, 0.0, one * shape, one * 2.0, one * 2.0, np.array([100]))
    assert _by_fit(tail, 0.001)[1] == pytest.approx(quantile, abs=5e-5)


@pytest.mark.parametrize(
    ("law", "threshold", "shape", "scale", "low", "high"),
    [
        (stats.norm, 0.6666, -0.1840, 0.7057, 4.6, 4.8),
        (stats.expon, 1.3763, 0.0281, 0.9765, 11.8, 12.7),
        (stats.uniform, 0.7475, -0.9304, 0.2396, 1.01, 1.02),
    ],
)
def test_bound_of_exact_scores(
    law: stats.rv_continuous, threshold: float, shape: float, scale: float, low: float, high: float
) -> None:
    values = law.ppf(SCORES)
    tail = fit_tail(values, 1)
    assert tail is not None
    assert (tail.threshold, tail.shape, tail.scale) == pytest.approx((threshold, shape, scale), abs=5e-5)
    found = answer(values, FAR)
    assert found.kind == ("bounded" if law is stats.uniform else "light")
    assert found.wanted is not None and found.wanted.bound is not None
    assert low <= found.wanted.bound <= high


def test_cauchy_is_heavy_and_has_no_bound() -> None:
    found = answer(stats.cauchy.ppf(SCORES), FAR)
    assert found.kind == "heavy"
    assert found.wanted is not None and (found.wanted.bound, found.wanted.reason) == (None, "heavy")
    assert found.proven == pytest.approx(0.0149, abs=5e-5)


def test_ratios_are_heavy_too() -> None:
    """Half of a Cauchy distribution: its logarithms have a light tail, but a bound from them lies at millions."""
    values = stats.halfcauchy.ppf(SCORES)
    made = proposal(values, "<", 20.0)
    assert (answer(values, FAR).kind, made.word, made.reason) == ("heavy", proposals.NOTHING, "heavy")


@pytest.mark.parametrize(("n", "proven"), [(200, 0.0149), (1_000, 0.0030), (2_995, 0.0010)])
def test_what_so_many_runs_prove(n: int, proven: float) -> None:
    assert answer(normal(n), FAR).proven == pytest.approx(proven, abs=5e-5)


# -- doubt ---------------------------------------------------------------------------------------------------------


def test_bound_is_beyond_the_estimate_and_the_ladder_climbs() -> None:
    found = answer(normal(1_000), FAR)
    bounds = [rung.bound for rung in found.ladder]
    assert all(bound is not None for bound in bounds)
    assert bounds == sorted(bounds, key=float)  # type: ignore[arg-type]
    assert all(rung.bound > rung.estimate for rung in found.ladder)  # type: ignore[operator]


def test_nothing_is_claimed_beyond_ten_times_the_runs() -> None:
    ladder = answer(normal(999), FAR).ladder
    assert ladder[3].reason == "more runs" and ladder[3].bound is None
    assert answer(normal(1_000), FAR).ladder[3].bound is not None


def test_same_values_in_any_order_give_the_same_answer() -> None:
    values = normal(300)
    shuffled = np.random.default_rng(5).permutation(values)
    assert answer(values, FAR).ladder == answer(shuffled, FAR).ladder


def test_lower_bounds_are_upper_bounds_of_the_negated_values() -> None:
    values = normal(300, seed=2)
    upper, lower = answer(values, Question("<=", 2.0)), answer(-values, Question(">=", -2.0))
    bounds = [rung.bound for rung in upper.ladder[:3] if rung.bound is not None]
    assert bounds == [-(rung.bound or 0) for rung in lower.ladder[:3]] and len(bounds) == 3
    assert upper.present == lower.present


def test_order_statistic_covers_the_quantile_as_often_as_it_says() -> None:
    """The share of samples of n values of which no more than `rank` lie below the quantile, by the binomial law."""
    rank = int(_by_counting(np.arange(200.0), 0.1)[0] or 0)
    assert scipy.stats.binom.cdf(rank, 200, 0.9) >= 0.95 > scipy.stats.binom.cdf(rank - 1, 200, 0.9)


def test_what_happens_often_has_a_bound_whatever_the_tail() -> None:
    """With 300 values the largest is beyond what 1 in 100 exceed, with 95 %: 0.99^300 < 0.05."""
    values = stats.cauchy.rvs(size=300, random_state=np.random.default_rng(1))
    found = answer(values, FAR)
    assert found.kind == "heavy"
    assert found.ladder[1].bound == values.max()
    assert found.ladder[2].bound is None
    assert answer(values[:290], FAR).ladder[1].bound is None


# -- the present bound ---------------------------------------------------------------------------------------------


def test_share_that_fails_often_is_counted() -> None:
    present = answer(normal(1_000), Question("<", 1.645)).present
    assert present is not None and present.is_counted
    assert present.low < 0.05 < present.high


def test_share_that_fails_seldom_is_taken_from_the_tail() -> None:
    present = answer(normal(1_000), Question("<", 3.09)).present
    assert present is not None and not present.is_counted
    assert present.low < 0.001 < present.high < 0.01


def test_share_below_what_can_be_claimed_is_no_number() -> None:
    present = answer(normal(1_000), Question("<", 40.0)).present
    assert present is not None and present.is_below_claim


@pytest.mark.parametrize(("op", "failed"), [("<", 60), ("<=", 0), (">", 40), (">=", 0)])
def test_value_equal_to_the_bound_fails_strict_comparisons_only(op: str, failed: int) -> None:
    values = np.array([0.25] * 40 + [0.5] * 60)
    present = answer(values, Question(op, 0.5 if op.startswith("<") else 0.25)).present
    assert present is not None and present.failed == failed


# -- discrete values -----------------------------------------------------------------------------------------------


def accuracies(n: int, of: int = 100) -> Floats:
    return np.random.default_rng(7).binomial(of, 0.9, n) / of


def test_bound_of_accuracies_lies_on_their_grid_and_keeps_its_promise() -> None:
    found = answer(accuracies(500), Question(">=", 0.9))
    assert found.is_discrete
    for rung in found.ladder[:3]:
        assert rung.bound is not None
        assert rung.bound * 100 == pytest.approx(round(rung.bound * 100), abs=1e-6)
        assert stats.binom.cdf(round(rung.bound * 100) - 1, 100, 0.9) <= rung.tolerated


def test_strict_bound_of_discrete_values_lies_a_step_farther_out() -> None:
    values = accuracies(500)
    strict, other = (answer(values, Question(op, 0.9)).ladder[1].bound for op in (">", ">="))
    assert strict is not None and other is not None
    assert other - strict == pytest.approx(0.01)


# -- Box-Cox -------------------------------------------------------------------------------------------------------


def test_power_is_that_of_scipy() -> None:
    values = np.sort(np.random.default_rng(4).gamma(2, size=200))
    found = box_cox_of(values)
    assert found is not None
    assert found.power == pytest.approx(stats.boxcox(values)[1], abs=1e-4)


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_transformation_keeps_order_and_is_turned_back(sign: float) -> None:
    values = np.sort(sign * np.geomspace(1e-9, 1.0, 200))
    found = box_cox_of(values)
    assert found is not None
    turned = found.turn(values)
    assert (np.diff(turned) > 0).all()
    assert [found.turn_back(z) for z in turned.tolist()] == pytest.approx(values.tolist(), rel=1e-9)


def test_values_of_both_signs_are_not_transformed() -> None:
    assert box_cox_of(np.array([-1.0, 0.5, 2.0])) is None
    assert box_cox_of(np.array([0.0, 0.5, 2.0])) is None


def test_heavy_values_of_one_sign_get_a_bound_by_their_transforms() -> None:
    values = stats.lognorm(1.3).ppf((np.arange(1, 401) - 0.5) / 400)
    tail = fit_tail(np.sort(values), 1)
    assert tail is None or tail.kind == "heavy"
    found = answer(values, FAR)
    rung = found.wanted
    assert found.kind == "wide" and rung is not None and rung.bound is not None
    assert stats.lognorm(1.3).sf(rung.bound) < 0.001


def test_bound_far_beyond_all_values_is_of_no_use() -> None:
    values = stats.lognorm(1.3).ppf(SCORES)
    ladder = answer(values, FAR).ladder
    assert [rung.reason for rung in ladder] == ["", "", "too far", "more runs"]
    assert ladder[2].bound is None and ladder[1].bound is not None
    made = proposal(values, "<", 10.0)
    assert (made.word, made.bound, made.reason) == (proposals.NOTHING, None, "too far")
    assert proposal(values, "<", 1e6).word == proposals.LIKELY_LOOSE, "the present bound fails as seldom as tolerated"


# -- obstacles -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("values", "obstacle"),
    [
        ([1.0] * 99, "too few"),
        ([], "too few"),
        ([0.1] * 200, "constant"),
        ([1.0, np.nextafter(1.0, 2)] * 100, "constant"),
        ([1.0] * 199 + [np.nan], "not finite"),
        ([1.0] * 199 + [np.inf], "not finite"),
    ],
)
def test_values_of_which_nothing_can_be_said(values: list[float], obstacle: str) -> None:
    found = answer(np.array(values), Question("<", 0.5))
    assert found.obstacle == obstacle
    assert (found.wanted, found.ladder, found.curve) == (None, (), None)


def test_errors_of_rounding_vary_if_the_bound_is_of_their_size() -> None:
    values = 1e-15 * np.abs(normal(200))
    assert answer(values, Question("<", 1e-14)).obstacle == ""
    assert answer(values, Question("<", 1e-2)).obstacle == "constant"


LARGEST = 1.7976931348623157e308
EXTREMES = st.sampled_from([0.0, -0.0, 5e-324, -5e-324, LARGEST, -LARGEST, 1e-12, 1.0])


@given(
    arrays.arrays(np.float64, st.integers(95, 260), elements=st.floats() | EXTREMES, fill=st.nothing() | st.floats()),
    st.sampled_from(["<", "<=", ">", ">="]),
    st.floats() | EXTREMES,
)
@settings(max_examples=60, deadline=None)
@example(np.array([1.7e308, -1.7e308] * 100), "<", 0.0)
@example(np.concatenate([np.geomspace(5e-324, 1.7e308, 150), [0.0] * 5]), ">", 1.0)
@example(np.geomspace(5e-324, 1.7e308, 300), "<", 1.0)
@example(-np.geomspace(1e-300, 1.0, 300), "<", -1e-200)
@example(np.linspace(5e-324, 1e-320, 200), "<", 1e-321)
@example(np.concatenate([np.zeros(150), np.linspace(1, 2, 60)]), "<", 1.0)
@example(np.array([LARGEST] + [0.0] * 99), "<=", 0.0)
@example(np.array([LARGEST, 0.0] * 100), "<=", 0.0)
def test_any_floats_get_an_answer_or_a_reason(values: Floats, op: str, bound: float) -> None:
    question = Question(op, bound)
    found = answer(values, question)
    if np.isnan(values).any() or np.isinf(values).any():
        assert found.obstacle == "not finite" and found.not_finite > 0
    for rung in found.ladder:
        assert (rung.bound is None) == bool(rung.reason)
        assert rung.bound is None or np.isfinite(rung.bound)
        assert rung.estimate is None or np.isfinite(rung.estimate)
    if found.curve is not None:
        assert np.isfinite([found.curve.x, found.curve.share, found.curve.low, found.curve.high]).all()
    if found.present is not None:
        assert 0 <= found.present.low <= found.present.estimate <= found.present.high <= 1
    made = propose(values, question, found)
    assert made.bound is None or np.isfinite(made.bound)


# -- proposals -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("bound", "median", "is_lower", "written"),
    [
        (0.163, 0.052, False, 0.17),
        (0.163, 0.052, True, 0.16),
        (1001.3412, 1000.5, False, 1001.35),
        (-4.73, 0.0, True, -4.8),
        (12.0, 3.0, False, 12.0),
        (0.0, 0.0, False, 0.0),
        (5.0, 5.0, False, 5.0),
        (LARGEST, 0.0, False, LARGEST),
        (-LARGEST, 0.0, True, -LARGEST),
    ],
)
def test_bounds_are_rounded_outwards(bound: float, median: float, is_lower: bool, written: float) -> None:
    assert outwards(bound, median, is_lower) == written


def test_bound_that_fails_too_often_is_replaced() -> None:
    made = proposal(normal(1_000), "<", 1.645)
    assert made.word == proposals.WRITE and made.warnings == ()
    assert made.bound is not None and 3.1 <= made.bound <= 5.0


def test_bound_that_is_loose_enough_stays() -> None:
    assert proposal(normal(1_000), "<", 9.0).word == proposals.LOOSE


def test_bound_that_may_be_loose_enough_is_left_to_more_runs() -> None:
    assert proposal(normal(200), "<", 4.5).word == proposals.LIKELY_LOOSE


def test_heavy_values_get_no_proposal() -> None:
    made = proposal(stats.cauchy.ppf(SCORES), "<", 5.0)
    assert (made.word, made.reason) == (proposals.NOTHING, "heavy")


def test_bound_outside_of_what_is_possible_is_not_proposed() -> None:
    """P-values lie between 0 and 1: a test that asserts a negative one checks nothing."""
    values = np.random.default_rng(8).beta(0.5, 3, size=300)
    made = proposal(values, ">", 0.02)
    assert made.word == proposals.NOTHING and made.reason in ("checks nothing", "no fit", "heavy")
    assert proposals._checks_nothing(values, -0.1, True) and proposals._checks_nothing(values, 1.1, False)
    assert not proposals._checks_nothing(values, 0.001, True)
    assert proposals._checks_nothing(np.array([0.0, 3.0, 7.0]), -1.0, True)
    assert not proposals._checks_nothing(np.array([0.0, 3.5, 7.0]), -1.0, True)


def test_tolerance_that_grows_tenfold_is_warned_about() -> None:
    values = 5 + 5 * np.abs(normal(300))
    made = proposal(values, "<=", 1.0, SHARE)
    assert made.word == proposals.WRITE and "grows tenfold" in made.warnings


def test_two_groups_far_apart_are_warned_about() -> None:
    near, far = normal(150), 100 + normal(150, seed=2)
    assert proposals.has_two_groups(np.concatenate([near, far]))
    assert not proposals.has_two_groups(normal(300))
    assert not proposals.has_two_groups(np.concatenate([normal(297), [100.0, 101.0, 102.0]]))


# -- series over many commits --------------------------------------------------------------------------------------


def test_older_half_counts_as_long_as_nothing_changed() -> None:
    assert start_of_current(normal(400)) == 0
    assert start_of_current(np.concatenate([normal(200), normal(200, seed=2) + 1])) == 200
    assert start_of_current(np.array([0.0] * 5 + [1.0] * 5)) == 0


def test_answer_says_whether_more_runs_would_help() -> None:
    few, many = answer(normal(120, seed=3), FAR), answer(normal(3_000), FAR)
    assert not few.is_precise and many.is_precise
    assert isinstance(few, Answer)


def test_points_of_a_wide_tail_lie_at_equal_ratios() -> None:
    wide = np.exp(4 * np.random.default_rng(3).normal(size=200))
    for values, is_wide in ((wide, True), (np.random.default_rng(3).normal(size=200), False)):
        curve = answer(values, Question("<", 5.0)).curve
        assert curve is not None
        steps = np.diff(np.log(curve.x) if is_wide else curve.x)
        assert steps == pytest.approx(np.full(len(steps), steps[0]), rel=1e-6)
