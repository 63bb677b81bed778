"""Changes of failure rates: against brute force, on sequences with a known change, and on bursts that are none."""

from math import exp, lgamma, log, pi

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from analytics.kernel import changes
from analytics.kernel.parameters import Parameters
from tests.analytics.outcomes import of_matrix

P, F, S = 0, 1, 3
LEAST = 150.0


def found_in(outcomes: np.ndarray, revision: np.ndarray | None = None, **chosen: float) -> changes.Changes:
    outcomes = np.atleast_2d(outcomes)
    revisions = np.arange(outcomes.shape[1]) if revision is None else revision
    return changes.changes(of_matrix(outcomes), revisions, Parameters(**chosen))  # type: ignore[arg-type]


# -- brute force -------------------------------------------------------------------------------------------------


def log_marginal(outcomes: list[int], worth: float) -> float:
    """Beta-binomial with Jeffreys' prior, for one sequence."""
    failed, passed = worth * sum(outcomes), worth * (len(outcomes) - sum(outcomes))
    return lgamma(failed + 0.5) + lgamma(passed + 0.5) - lgamma(failed + passed + 1) - log(pi)


def gains(outcomes: list[int], worth: float) -> dict[int, float]:
    whole = log_marginal(outcomes, worth)
    return {
        split: log_marginal(outcomes[:split], worth) + log_marginal(outcomes[split:], worth) - whole
        for split in range(1, len(outcomes))
    }


def worth_of(outcomes: list[int], split: int) -> float:
    apart = []
    for side in (outcomes[:split], outcomes[split:]):
        apart += [one - sum(side) / len(side) for one in side]
    spread = sum(one * one for one in apart)
    alike = sum(one * two for one, two in zip(apart, apart[1:], strict=False)) / spread if spread > 1e-12 else 0.0
    return (1 - alike) / (1 + alike) if alike > 0 else 1.0


def slow_change(outcomes: list[int]) -> tuple[int, int, int, float] | None:
    """The first trial after the change, its interval, and the Bayes factor."""
    if len(outcomes) < 2:
        return None
    plain = gains(outcomes, 1.0)
    if sum(map(exp, plain.values())) / len(plain) <= LEAST:
        return None
    told = gains(outcomes, worth_of(outcomes, max(plain, key=lambda split: (round(plain[split], 9), -split))))
    factor = sum(map(exp, told.values())) / len(told)
    if factor <= LEAST:
        return None
    reached, low, high = 0.0, 0, 0
    for split, gain in told.items():
        reached += exp(gain) / (factor * len(told))
        low = low or (split if reached >= 0.025 else 0)
        high = high or (split if reached >= 0.975 else 0)
    return max(told, key=lambda split: (round(told[split], 9), -split)), low, high, factor


def slow_changes(outcomes: list[int]) -> list[tuple[int, int, int, float]]:
    """All changes of one test, at most three, the clearest first."""
    parts, found = [(0, len(outcomes))], []
    while len(found) < 3:
        known = [(slow_change(outcomes[low:high]), low, high) for low, high in parts]
        known = [one for one in known if one[0] is not None]
        if not known:
            break
        (at, first, last, factor), low, high = max(known, key=lambda one: one[0][3])
        found.append((low + at, low + first, low + last, factor))
        parts = [part for part in parts if part != (low, high)] + [(low, low + at), (low + at, high)]
    return sorted(found)


stretches = st.lists(st.tuples(st.integers(1, 40), st.sampled_from([0.0, 0.05, 0.3, 0.7, 1.0])), min_size=1, max_size=4)


@settings(max_examples=60)
@given(stretches, st.integers(0, 1_000))
def test_changes_are_what_weighing_every_split_gives(drawn: list[tuple[int, float]], seed: int) -> None:
    rng = np.random.default_rng(seed)
    outcomes = np.concatenate([(rng.random(length) < rate).astype(int) for length, rate in drawn])
    found = found_in(outcomes)
    slow = slow_changes(outcomes.tolist()) if outcomes.sum() >= 3 else []
    assert found.report.tolist() == [one[0] for one in slow]
    assert found.low.tolist() == [one[1] for one in slow]
    assert found.high.tolist() == [one[2] for one in slow]
    assert found.bayes_factor.tolist() == pytest.approx([one[3] for one in slow], rel=1e-6)
    edges = [0, *(one[0] for one in slow), len(outcomes)]
    for row in range(len(slow)):
        before, after = outcomes[edges[row] : edges[row + 1]], outcomes[edges[row + 1] : edges[row + 2]]
        assert (found.failed_before[row], found.executed_before[row]) == (before.sum(), len(before))
        assert (found.failed_after[row], found.executed_after[row]) == (after.sum(), len(after))


# -- known truth -------------------------------------------------------------------------------------------------


def chain(rng: np.random.Generator, length: int, rate: float, again: float) -> np.ndarray:
    """Outcomes that fail with `rate` in the long run, and with `again` after a failure."""
    onset = rate * (1 - again) / (1 - rate)
    drawn, outcomes, failed = rng.random(length), np.zeros(length, dtype=int), False
    for i in range(length):
        failed = bool(drawn[i] < (again if failed else onset))
        outcomes[i] = failed
    return outcomes


def test_a_test_that_became_flaky_and_was_fixed_shows_when() -> None:
    rng = np.random.default_rng(3)
    outcomes = np.concatenate([chain(rng, 200, rate, rate) for rate in (0.01, 0.3, 0.0)])
    found = found_in(outcomes)
    assert len(found) == 2
    assert (found.low[0] <= 200 <= found.high[0]) and (found.low[1] <= 400 <= found.high[1])
    before, after = found.failed_before / found.executed_before, found.failed_after / found.executed_after
    assert before[0] < 0.05 < 0.2 < after[0]
    assert before[1] == after[0]
    assert after[1] == 0


def test_the_interval_holds_the_true_change_as_often_as_it_says() -> None:
    rng = np.random.default_rng(4)
    outcomes = np.array([np.concatenate([chain(rng, 150, 0.02, 0.02), chain(rng, 150, 0.3, 0.3)]) for _ in range(200)])
    found = found_in(outcomes)
    assert len(np.unique(found.test)) == 200
    assert np.mean((found.low <= 150) & (found.high >= 150)) >= 0.92


def test_a_break_is_a_change_at_the_very_report() -> None:
    found = found_in(np.array([P] * 30 + [F] * 30))
    assert (found.report.tolist(), found.low.tolist(), found.high.tolist()) == ([30], [30], [30])


@pytest.mark.parametrize(("rate", "again"), [(0.02, 0.02), (0.02, 0.5), (0.02, 0.8), (0.1, 0.6), (0.3, 0.8)])
def test_bursts_are_no_changes(rate: float, again: float) -> None:
    """Of 300 tests that never changed at most 1 in 150 may seem to have, however their failures stick together."""
    rng = np.random.default_rng(5)
    outcomes = np.array([chain(rng, 500, rate, again) for _ in range(300)])
    assert len(np.unique(found_in(outcomes).test)) <= 2


def test_failures_in_a_row_at_one_revision_count_once() -> None:
    outcomes = np.array([P] * 60 + [F] * 40 + [P] * 60)
    assert len(found_in(outcomes, np.zeros(160, dtype=int))) == 0
    broken = np.array([P] * 60 + [F] * 40)
    assert len(found_in(broken, np.zeros(100, dtype=int))) == 0
    assert len(found_in(broken, np.arange(100))) == 1


def test_little_data_and_no_data_show_no_change() -> None:
    assert len(found_in(np.array([P] * 400 + [F] * 2))) == 0
    assert len(found_in(np.full((2, 5), S))) == 0
    assert len(found_in(np.full((2, 0), -1))) == 0
    assert len(found_in(np.full((1, 400), F))) == 0


def test_no_more_changes_than_asked_for() -> None:
    outcomes = np.tile(np.array([P] * 100 + [F] * 100), 4)
    rng = np.random.default_rng(6)
    noisy = np.where(rng.random(800) < 0.1, 1 - outcomes, outcomes)
    assert len(found_in(noisy, most_changes=1)) <= 1
    assert len(found_in(noisy)) <= 3


def test_skips_and_absences_do_not_move_a_change() -> None:
    outcomes = np.array([P, S] * 30 + [F, -1] * 30)
    found = found_in(outcomes)
    assert found.report.tolist() == [60]
    assert (found.executed_before.tolist(), found.executed_after.tolist()) == ([30], [30])
