"""What is true of small histories, as the metrics see it."""

import numpy as np

from analytics.simulation.truth import Kind, Regression
from bench import ground_truth
from bench.ground_truth import TrueKind
from tests.bench.histories import flake, truth, window_of


def test_both_outcomes_are_asked_for_at_one_revision_in_one_environment() -> None:
    window = window_of(["P F P", "F P P", "P F F"], revision=[1, 1, 1], environment=[0, 1, 1])
    assert ground_truth.both_seen(window, truth()).tolist() == [True, False, False]


def test_a_failure_in_an_incident_is_none_of_the_tests_own() -> None:
    window = window_of(["P F", "F P"], revision=[1, 1])
    assert ground_truth.both_seen(window, truth(incidents=[1])).tolist() == [False, True]


def test_known_when_the_contradiction_or_the_recovery_was_complete() -> None:
    window = window_of(["P F F P", "P P FP P", "P P F P"], revision=[1, 2, 2, 2], run=[0, 1, 2, 3])
    none = np.zeros(4, dtype=bool)
    assert ground_truth.known_since(window, none).tolist() == [3, 2, 2]
    inside = np.array([False, False, True, False])
    assert ground_truth.known_since(window, inside).tolist() == [3, -1, -1]


def test_a_recovery_is_known_without_a_revision() -> None:
    window = window_of(["P FP P", "P F P"], revision=[-1, -1, -1])
    assert ground_truth.known_since(window, np.zeros(3, dtype=bool)).tolist() == [1, -1]


def test_days_count_from_when_the_test_could_fail() -> None:
    window = window_of(["P P P F P", ". . F P P", "F P P P P", "P P P P P"])
    known = truth([flake(0, since=1), flake(1), flake(2), flake(3)])
    assert ground_truth.days_until(window, known, np.array([3, 4, -1, -1])).tolist() == [2.0, 2.0, np.inf]


def test_a_history_without_flaky_tests_has_no_days() -> None:
    assert len(ground_truth.days_until(window_of(["P F"]), truth(), np.array([-1]))) == 0


def test_true_kinds() -> None:
    window = window_of(["P F P", "F P P", "P P F", "F F P", "P F P", "P P P"])
    known = truth(
        [flake(0, Kind.VICTIM), flake(1, Kind.BURSTY)], [Regression(3, 0, 2, default_branch=True)], incidents=[2]
    )
    expected = [TrueKind.ORDER, TrueKind.OTHER, TrueKind.INFRASTRUCTURE, TrueKind.BROKEN, TrueKind.NOTHING]
    assert ground_truth.true_kinds(window, known).tolist() == expected


def test_a_flaky_test_that_also_broke_is_no_plain_regression() -> None:
    window = window_of(["P F", "P F"])
    broken = [Regression(number, 1, -1, default_branch=True) for number in (0, 1)]
    assert ground_truth.plain_regressions(window, truth([flake(1)], broken)).tolist() == [True, False]


def test_tests_in_no_cluster_are_each_their_own() -> None:
    window = window_of(["F F F", "F F F", "F F F", "F F F", "P F F"])
    known = truth([flake(number, Kind.CLUSTER, group=0 if number < 2 else -1) for number in range(5)])
    true, concluded = ground_truth.cluster_labels(window, known, np.array([4, 4, -1, -1, 4]))
    assert len(true) == 4
    assert true[0] == true[1] and len(set(true.tolist())) == 3
    assert concluded[0] == concluded[1] and len(set(concluded.tolist())) == 3


def test_a_blocked_run_is_shared_and_one_with_a_real_failure_costs_nobody() -> None:
    rows = ["F F P FP F", "P F P P P", "P P F P F"]
    known = truth([flake(0), flake(1)])
    assert ground_truth.true_cost(window_of(rows), known).tolist() == [1.5, 0.5, 0.0]


def test_failures_in_incidents_and_after_the_fix_are_not_flaky_ones() -> None:
    window = window_of(["F F F F"])
    assert ground_truth.true_cost(window, truth([flake(0, since=1, until=3)], incidents=[2])).tolist() == [1.0]


def test_the_top_items_hold_what_their_tests_cost() -> None:
    cost = np.array([5.0, 1.0, 2.0, 4.0])
    items = [np.array([1, 2]), np.array([0]), np.array([3])]
    assert ground_truth.in_top(cost, items, most=2) == 8.0
    assert ground_truth.in_top(cost, [], most=2) == 0.0


def test_the_best_first_item_is_the_cause_that_cost_most() -> None:
    cost = np.array([5.0, 3.0, 4.0, 0.0])
    known = truth([flake(0), flake(1, Kind.CLUSTER, group=7), flake(2, Kind.CLUSTER, group=7), flake(3)])
    assert [item.tolist() for item in ground_truth.best_items(cost, known)] == [[1, 2], [0], [3]]
