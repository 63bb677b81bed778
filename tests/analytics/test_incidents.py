"""Bulks of failures: the machines' fault or the tests', and what durations tell."""

from dataclasses import replace

import numpy as np
import pytest

from analytics.kernel import durations, incidents
from analytics.kernel.durations import Hint
from analytics.kernel.incidents import IncidentRule, names_environment
from tests.analytics.outcomes import of_matrix

TESTS, RUNS = 200, 60


def judged(outcomes: np.ndarray, suites: int = 10, blamed: bool = False) -> incidents.Incidents:
    ran = of_matrix(outcomes)
    words = np.full(len(ran.test), blamed)
    none = incidents.PassingTests(np.zeros(outcomes.shape[1], dtype=int), 0.0)
    return incidents.incidents(ran, np.arange(len(outcomes)) % suites, words, none)


def quiet(seed: int = 0, rate: float = 0.002) -> np.ndarray:
    return (np.random.default_rng(seed).random((TESTS, RUNS)) < rate).astype(int)


def test_a_third_of_the_suite_failing_at_once_is_an_incident() -> None:
    outcomes = quiet()
    outcomes[:70, 17] = 2
    found = judged(outcomes)
    assert np.flatnonzero(found.found).tolist() == [17]
    assert found.why[17] & IncidentRule.BULK


def test_far_more_failures_than_usual_across_suites_are_an_incident() -> None:
    outcomes = quiet()
    outcomes[::8, 30] = 1  # 25 of 200: an eighth, below the bulk's share
    found = judged(outcomes, suites=9)
    assert found.why[30] == IncidentRule.IMPROBABLE
    assert found.expected[30] < 5 < found.failing[30]


def test_a_bulk_inside_one_suite_is_a_cluster_and_no_incident() -> None:
    outcomes = quiet()
    outcomes[np.arange(TESTS) % 10 == 3, 30] = 1
    assert not judged(outcomes).found.any()


def test_independent_flaky_tests_make_no_incidents() -> None:
    for seed in range(20):
        assert not judged(quiet(seed, rate=0.03)).found.any()


def test_failures_that_name_the_environment_are_an_incident_by_their_words() -> None:
    outcomes = np.zeros((20, 5), dtype=int)
    outcomes[:4, 2] = 1
    assert judged(outcomes, blamed=True).why.tolist() == [0, 0, IncidentRule.ENVIRONMENT, 0, 0]
    assert not judged(outcomes, blamed=False).found.any()


@pytest.mark.parametrize(("named", "why"), [(2, IncidentRule.NONE), (3, IncidentRule.ENVIRONMENT)])
def test_two_failures_that_name_the_environment_beside_another_are_none(named: int, why: IncidentRule) -> None:
    """Two flaky tests of the network may well fail at once."""
    outcomes = np.zeros((20, 8), dtype=int)
    outcomes[: named + 1, 2] = 1
    ran = of_matrix(outcomes)
    others = incidents.PassingTests(np.zeros(8, dtype=int), 0.0)
    assert incidents.incidents(ran, np.arange(20) % 10, ran.test < named, others).why[2] == why


@pytest.mark.parametrize(
    "words",
    [
        "ConnectionError: Connection refused",
        "[Errno 28] No space left on device",
        "ModuleNotFoundError: No module named 'x'",
    ],
)
def test_words_of_the_environment(words: str) -> None:
    assert names_environment(words)
    assert not names_environment("AssertionError: expected 3 but was 4")


def test_nothing_is_no_incident() -> None:
    assert not judged(np.full((3, 4), 3)).found.any()
    nothing = of_matrix(np.full((2, 0), -1))
    none = incidents.PassingTests(np.array([], dtype=int), 0.0)
    assert len(incidents.incidents(nothing, np.zeros(2, dtype=int), np.array([], dtype=bool), none).why) == 0


@pytest.mark.parametrize(
    ("passing", "failing", "hint"),
    [
        ([0.1] * 20, [30.0, 30.1, 30.2, 30.01], Hint.TIMEOUT),
        (list(np.linspace(1, 2, 20)), [7.0, 7.5, 8.1, 6.9], Hint.SLOW),
        (list(np.linspace(10, 12, 20)), [0.1, 0.2, 0.1, 0.15], Hint.EARLY),
        (list(np.linspace(1, 2, 20)), [1.2, 1.5, 1.7], Hint.NONE),
        ([1.0], [9.0], Hint.NONE),
        ([0.0015] * 20, [0.010] * 5, Hint.NONE),
        ([0.2] * 20, [0.65] * 5, Hint.NONE),
        ([0.6] * 20, [0.05] * 5, Hint.EARLY),
        ([0.85] * 20, [1.01] * 5, Hint.NONE),
        ([], [], Hint.NONE),
        ([float("nan")] * 5, [float("nan")] * 5, Hint.NONE),
        ([30.0] * 20, [30.1] * 5, Hint.NONE),
    ],
)
def test_durations_hint_at_causes(passing: list[float], failing: list[float], hint: Hint) -> None:
    ran = of_matrix(np.array([[0] * len(passing) + [1] * len(failing)]))
    found = durations.compare_all(replace(ran, duration=np.array([*passing, *failing])))
    assert (found[0].hint if found else Hint.NONE) is hint


def test_durations_of_all_tests_at_once_are_those_of_each() -> None:
    rng = np.random.default_rng(3)
    outcomes = (rng.random((30, 40)) < 0.3).astype(int) - (rng.random((30, 40)) < 0.1)
    ran = of_matrix(outcomes)
    seconds = rng.lognormal(0, 2, size=len(ran.test))
    seconds[rng.random(len(seconds)) < 0.1] = np.nan
    ran = replace(ran, duration=seconds)
    found = durations.compare_all(ran)
    assert len(found) > 20
    for test, verdict in found.items():
        mine = ran.test == test
        assert verdict.passing == pytest.approx(np.nanmedian(seconds[mine & ~ran.failing]))
        assert verdict.failing == pytest.approx(np.nanmedian(seconds[mine & ran.failing]))
        assert repr(verdict) == repr(durations.compare_all(ran.where(mine))[test])


def test_the_floor_of_a_difference_grows_with_the_suite() -> None:
    assert durations.duration_floor(np.array([0.01, 0.02, np.nan])) == 0.5
    assert durations.duration_floor(np.array([20.0, 30.0, 40.0])) == pytest.approx(3.0)
    assert durations.duration_floor(np.array([])) == 0.5
    ran = of_matrix(np.array([[0] * 20 + [1] * 5]))
    slow = replace(ran, duration=np.array([1.0] * 20 + [3.5] * 5))
    assert durations.compare_all(slow)[0].hint is Hint.SLOW
    assert durations.compare_all(slow, floor=3.0)[0].hint is Hint.NONE
