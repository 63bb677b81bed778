"""Who ran before whom, and what that does to order-dependent tests."""

import numpy as np
import pytest

from analytics.simulation import Settings, simulate
from analytics.simulation.truth import Kind
from bench import orders
from bench.chains import Chain, true_chains
from tests.bench.histories import flake, truth, window_of

ORDERS = [[0, 1, 2], [2, 1, 0], [1, 2]]


def test_positions_count_reports_in_which_both_ran() -> None:
    window = window_of(["P " * 7] * 3, orders=ORDERS, order=[0, 0, 0, 1, 2, -1, 1])
    step, order = orders.steps(window), window.reports.order
    assert orders.positions(step, order, test=0, partner=2) == (2, 3)
    assert orders.positions(step, order, test=2, partner=1) == (4, 2)


@pytest.mark.parametrize(("ranked", "rank"), [([2, 1], 1), ([1, 2], 2), ([1], 0), ([], 0)])
def test_the_rank_of_a_polluter(ranked: list[int], rank: int) -> None:
    window = window_of(["P " * 20, "P " * 20, "P " * 20], orders=ORDERS, order=[0, 1] * 10)
    known = truth([flake(0, Kind.VICTIM, partners=(2,))])
    assert orders.partner_ranks(window, known, Kind.VICTIM, {0: np.array(ranked, dtype=int)}) == [rank]
    assert orders.partner_ranks(window, known, Kind.VICTIM, {}) == [0]
    assert orders.partner_ranks(window, known, Kind.BRITTLE, {}) == []


def test_a_partner_that_nearly_always_ran_first_is_not_asked_for() -> None:
    window = window_of(["P " * 20, "P " * 20, "P " * 20], orders=ORDERS, order=[0] * 9 + [1] * 11)
    known = truth([flake(0, Kind.VICTIM, partners=(2,))])
    assert orders.partner_ranks(window, known, Kind.VICTIM, {}) == []


VICTIM = flake(0, Kind.VICTIM, partners=(1,), cleaners=(2,))
BRITTLE = flake(0, Kind.BRITTLE, partners=(1,))


@pytest.mark.parametrize(
    ("order", "victim", "brittle"),
    [
        ([0, 1, 2], False, True),
        ([1, 0, 2], True, False),
        ([1, 2, 0], False, False),
        ([2, 1, 0], True, False),
        ([2, 0], False, True),
        ([1, 2], False, False),
    ],
)
def test_where_an_order_makes_a_test_fail(order: list[int], victim: bool, brittle: bool) -> None:
    step = orders.steps(window_of(["P", "P", "P"], orders=[order], order=[0]))
    assert orders.fails_in(VICTIM, step).tolist() == [victim]
    assert orders.fails_in(BRITTLE, step).tolist() == [brittle]


def test_the_share_of_reports_that_fail_by_their_order() -> None:
    window = window_of(["P " * 5] * 3, orders=[[0, 1, 2], [1, 0, 2]], order=[0, 0, 0, 1, -1])
    step = orders.steps(window)
    assert orders.failing_share(VICTIM, step, window.reports.order) == 0.25
    assert np.isnan(orders.failing_share(VICTIM, step, np.full(5, -1)))


# -- chains ------------------------------------------------------------------------------------------------------


def test_clean_runs_of_a_test_that_can_fail_in_half_of_them() -> None:
    assert Chain(onset=0.5, again=0.5, exposure=0.5).clean(4) == 0.25
    assert Chain(onset=0.5, again=0.5, exposure=1.0).clean(4) == 0.0625


def test_clean_runs_that_are_enough() -> None:
    assert Chain(onset=0.05, again=0.0, exposure=1.0).enough(0.95) == pytest.approx(58.4, abs=0.01)
    assert Chain(onset=0.05, again=0.0, exposure=0.5).enough(0.95) == pytest.approx(116.8, abs=0.01)
    assert Chain(onset=0.0, again=0.0, exposure=1.0).enough(0.95) == np.inf


@pytest.mark.parametrize("retries", [False, True])
def test_chains_are_those_that_the_history_shows(retries: bool) -> None:
    """Onset times exposure is how often a test fails after a pass; a retry of a victim meets the same order."""
    history = simulate(Settings(seed=3, days=30, shuffled_share=0.5, retries=retries, fixed_flakes=0, new_flakes=0))
    window = history.window()
    chains, rows = true_chains(history, window), window.executions
    for number, one in history.truth.flakes.items():
        mine = rows.where(window.failing[rows.test] == number)
        first = mine.ordinal == 0
        if one.kind in (Kind.VICTIM, Kind.BRITTLE, Kind.ENVIRONMENT, Kind.TIME_OF_DAY, Kind.CLUSTER):
            chain, own = chains[number], first & ~np.isin(mine.report, sorted(history.truth.incidents))
            seen = np.mean(mine.failing[own]) if own.any() else 0.0
            assert seen == pytest.approx(chain.onset * chain.exposure, abs=0.08)
        if one.kind is Kind.VICTIM:
            assert chains[number].again == (1.0 if retries else chains[number].onset)
