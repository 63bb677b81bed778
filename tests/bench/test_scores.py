"""Precision, recall, F1 and agreement on cases worked by hand."""

import numpy as np
import pytest
from scipy import stats

from bench.scores import Tally, adjusted_rand, pooled, quartiles, share, tally


def test_a_share_has_the_exact_interval() -> None:
    found = share(9, 10)
    assert found.value == 0.9
    assert found.low == pytest.approx(stats.beta.ppf(0.025, 9, 2))
    assert found.high == pytest.approx(stats.beta.ppf(0.975, 10, 1))


def test_nothing_to_judge_is_no_share_and_misses_any_bar() -> None:
    assert np.isnan(share(0, 0).value)


def test_right_wrong_and_missed() -> None:
    said = np.array([True, True, True, False, False])
    true = np.array([True, True, False, True, False])
    found = tally(said, true, np.ones(5, dtype=bool))
    assert (found.right, found.wrong, found.missed) == (2, 1, 1)
    assert found.precision.value == found.recall.value == pytest.approx(2 / 3)
    assert found.f1.value == pytest.approx(2 / 3)


def test_only_tests_that_are_asked_for_can_be_missed_but_any_can_be_wrong() -> None:
    said = np.array([True, False, True])
    true = np.array([True, True, False])
    found = tally(said, true, np.array([True, False, False]))
    assert (found.right, found.wrong, found.missed) == (1, 1, 0)


def test_seeds_are_pooled_before_they_are_divided() -> None:
    one, other = (Tally(*(np.array([count]) for count in counts)) for counts in ((9, 0, 1), (0, 1, 0)))
    together = pooled([one, other])
    assert together.precision.value == 0.9 and together.recall.value == 0.9 and together.f1.value == 0.9
    assert together.f1.low == 0.0 and together.f1.high == pytest.approx(18 / 19)


def test_nothing_to_find_and_nothing_called_is_perfect() -> None:
    assert tally(*[np.zeros(3, dtype=bool)] * 3).f1.value == 1.0


def test_quartiles_of_what_is_never_found() -> None:
    assert quartiles(np.array([4.0, 1.0, np.inf, 2.0])) == (1.0, 2.0, 4.0)
    assert quartiles(np.array([1.0, np.inf, np.inf])) == (1.0, np.inf, np.inf)


@pytest.mark.parametrize(
    ("one", "other", "agreement"),
    [
        ([0, 0, 1, 1], [5, 5, 3, 3], 1.0),
        ([0, 0, 1, 1], [0, 1, 0, 1], -0.5),
        ([0, 0, 1, 1], [0, 0, 1, 2], 4 / 7),
        ([0, 1, 2], [0, 1, 2], 1.0),
        ([0, 0, 0, 0], [0, 1, 2, 3], 0.0),
        ([], [], 1.0),
    ],
)
def test_agreement_of_labels(one: list[int], other: list[int], agreement: float) -> None:
    assert adjusted_rand(np.array(one, dtype=int), np.array(other, dtype=int)) == pytest.approx(agreement)


def test_labels_at_random_agree_as_much_as_chance() -> None:
    rng = np.random.default_rng(1)
    found = [adjusted_rand(rng.integers(4, size=60), rng.integers(4, size=60)) for _ in range(200)]
    assert abs(np.mean(found)) < 0.01


def test_the_worst_seed_is_told_and_one_without_anything_called_has_no_precision() -> None:
    seeds = Tally(np.array([9, 0, 1]), np.array([1, 0, 1]), np.array([0, 2, 0]))
    assert seeds.worst == (0.5, 0.0, 0.0)
    assert Tally(np.array([3, 0]), np.array([1, 0]), np.array([1, 0])).worst == (0.75, 0.75, 0.75)
