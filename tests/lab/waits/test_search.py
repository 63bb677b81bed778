"""The search for the smallest good value, on made pass rates; and the published rule that it is measured against."""

from __future__ import annotations

import pytest
from flakeboard.waits.proposals import proposal_of, rounded_up
from flakeboard.waits.samples import BAD, GOOD, UNCLEAR, Sample, is_confirmed, is_flaky, judge, judge_raised
from flakeboard.waits.search import NEEDED, NO_EFFECT, NO_HELP, OPEN, RAISE, SMALLER, TIMEOUT

from bench.why.published_rule import PUBLISHED, published_values
from tests.lab.waits.made import MadeWait


def sample(failed: int, runs: int, value: float = 1.0) -> Sample:
    return Sample(value, failed, runs)


@pytest.mark.parametrize("threshold", [0.02, 0.05, 0.12, 0.3])
def test_the_smallest_good_value_is_near_the_threshold(threshold: float) -> None:
    search = MadeWait(threshold).search(0.5)
    assert search.verdict == SMALLER
    assert search.good is not None and 1.0 <= search.good / threshold <= 1.5
    assert search.bad is not None and search.good <= 1.25 * search.bad
    assert search.curve == sorted(search.curve, reverse=True)


def test_a_value_that_makes_no_difference_is_told() -> None:
    search = MadeWait(0.0).search(0.5)
    assert (search.verdict, search.good, proposal_of(search, 2, 0)) == (NO_EFFECT, 0.0, 0.0)
    assert search.samples[0.0].runs == 100
    assert search.reference.runs >= 50


def test_a_test_that_fails_whatever_the_value_is_told_as_no_effect() -> None:
    search = MadeWait(0.0, chance=0.3).search(0.5)
    assert (search.verdict, search.good, proposal_of(search, 2, 0)) == (NO_EFFECT, None, None)


@pytest.mark.parametrize("now", [0.1, 0.2, 0.27, 0.3])
def test_a_flaky_value_is_raised(now: float) -> None:
    search = MadeWait(0.3).search(now)
    assert search.verdict == RAISE
    assert search.good is not None and 0.3 <= search.good <= 0.45
    assert (proposal_of(search, 1, 0) or 0) >= search.good


def test_a_value_that_no_raise_mends() -> None:
    search = MadeWait(0.2, chance=0.3).search(0.1)
    assert search.verdict == NO_HELP
    assert max(search.samples) == pytest.approx(0.8)
    assert proposal_of(search, 2, 0) is None


def test_no_value_is_raised_beyond_half_a_minute() -> None:
    search = MadeWait(100.0).search(20.0)
    assert max(search.samples) == 30.0 and search.good is None


def test_a_value_just_large_enough_is_needed() -> None:
    search = MadeWait(0.42).search(0.5)
    assert (search.verdict, search.good, proposal_of(search, 2, 0)) == (NEEDED, 0.5, None)


def test_nothing_at_or_below_a_bad_value_is_tried_again() -> None:
    for seed in range(5):
        wait = MadeWait(0.05, seed=seed)
        search = wait.search(0.5)
        last = {value: place for place, value in enumerate(wait.made)}
        first = {value: place for place, value in reversed(list(enumerate(wait.made)))}
        for bad in [value for value, word in search.judged.items() if word == BAD]:
            later = [value for value in first if first[value] > last[bad]]
            assert all(value > bad for value in later)


def test_runs_of_the_present_value_are_mixed_into_all_others() -> None:
    wait = MadeWait(0.05)
    search = wait.search(0.5)
    for start in range(0, len(wait.made) - 20, 20):
        assert 0.5 in wait.made[start : start + 24]
    begun = wait.made[:20]
    assert begun != sorted(begun) and begun != sorted(begun, reverse=True), "in turn, not one after the other"
    assert search.samples[0.0].runs == 10, "what is surely bad is given up early"


def test_the_smallest_good_value_is_confirmed_by_as_many_runs_again() -> None:
    search = MadeWait(0.05).search(0.5)
    assert search.good is not None and search.samples[search.good].runs == 200
    assert is_confirmed(sample(0, 200), sample(0, 100), 0.03)
    assert not is_confirmed(sample(8, 200), sample(0, 100), 0.03), "4 %: it had luck in its first hundred"


@pytest.mark.parametrize("seed", range(6))
def test_a_value_that_had_luck_is_given_up(seed: int) -> None:
    """With so much jitter the first values just above the threshold fail rarely, and more than the margin."""
    wait = MadeWait(0.1, jitter=0.25, seed=seed)
    search = wait.search(0.4)
    assert search.good is not None
    assert sum(wait.fails(search.good) for _ in range(1_000)) <= 30


def test_a_timeout_is_lowered_to_a_64th_and_never_proposed_smaller() -> None:
    search = MadeWait(0.05).search(2.0, TIMEOUT)
    assert min(search.samples) == pytest.approx(2.0 / 64)
    assert search.verdict == SMALLER
    assert proposal_of(search, 2, 0.05) is None
    assert proposal_of(search, 2, 0.3) == 10.0, "ten times the longest wait that succeeded, on a machine twice as slow"


def test_a_search_that_is_cut_short_says_what_is_known() -> None:
    assert MadeWait(0.05).search(0.5, most=30).verdict == OPEN
    search = MadeWait(0.05).search(0.5, most=190)
    assert (search.verdict, search.good) == (SMALLER, 0.25)


@pytest.mark.parametrize(
    ("seconds", "written"), [(0.0, 0.0), (0.013, 0.02), (0.02, 0.02), (0.21, 0.5), (0.51, 1), (7, 10)]
)
def test_values_to_write_down(seconds: float, written: float) -> None:
    assert rounded_up(seconds) == pytest.approx(written)


def test_a_proposal_is_not_above_a_value_that_is_good() -> None:
    search = MadeWait(0.3).search(0.5)
    assert search.good is not None and search.good < 0.4
    assert proposal_of(search, 1.0, 0) is None, "rounded up it is what is there already"
    assert proposal_of(MadeWait(0.05).search(0.5), 1.0, 0) == 0.1


# -- judgements --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("failed", "runs", "word"),
    [(0, 100, GOOD), (2, 100, GOOD), (0, 90, UNCLEAR), (5, 100, UNCLEAR), (6, 10, BAD), (20, 100, BAD)],
)
def test_judged_against_a_value_that_never_failed(failed: int, runs: int, word: str) -> None:
    assert judge(sample(failed, runs), sample(0, 50), 0.03, 100) == word


def test_more_failures_are_no_good_value_even_within_the_margin() -> None:
    assert judge(sample(60, 1_000), sample(40, 1_000), 0.03, 100) == UNCLEAR, "Fisher's p is 0.02"
    assert judge(sample(50, 1_000), sample(40, 1_000), 0.03, 100) == GOOD


def test_a_raised_value_must_fail_less_and_hardly_at_all() -> None:
    assert judge_raised(sample(0, 100), sample(20, 50), 0.03, 100) == GOOD
    assert judge_raised(sample(0, 100), sample(1, 50), 0.03, 100) == UNCLEAR, "the present value hardly fails"
    assert judge_raised(sample(20, 100), sample(50, 50), 0.03, 100) == BAD
    assert judge_raised(sample(0, 50), sample(20, 50), 0.03, 100) == UNCLEAR


def test_what_counts_as_flaky() -> None:
    assert [is_flaky(sample(failed, 50), 0.03) for failed in (0, 1, 2, 3)] == [False, False, True, True]


# -- the published rule ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("test", PUBLISHED, ids=lambda test: f"test {test.number}")
def test_the_published_sequences(test: PUBLISHED.__class__) -> None:  # type: ignore[name-defined]
    found = published_values(test.values[0], test.pre, dict(zip(test.values, test.failing, strict=True)).__getitem__)
    assert tuple(found) == test.values
