"""What flaky tests cost: against brute force, and on cases that a person can reckon."""

from itertools import groupby

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from analytics.kernel import executions, priority
from analytics.kernel.parameters import Parameters
from analytics.kernel.priority import BlockedRuns, Priority, RetryEffort
from tests.analytics.outcomes import of_matrix

P, F, E, S = 0, 1, 2, 3
FIFTEEN = Parameters(developer_minutes=15.0)


def cells(*pairs: tuple[int, int]) -> tuple[np.ndarray, np.ndarray]:
    rows = np.array(pairs, dtype=np.int64).reshape(len(pairs), 2)
    return rows[:, 0], rows[:, 1]


def ranked(
    pairs: list[tuple[int, int]],
    *,
    runs: int,
    tests: int,
    flaky: list[bool] | None = None,
    cluster: list[int] | None = None,
    run_seconds: float = 600.0,
    executed: int | None = None,
) -> Priority:
    blocked = priority.blocked_runs(*cells(*pairs), np.array(flaky or [True] * tests), runs)
    seen = np.full(tests, runs if executed is None else executed)
    effort = RetryEffort(seen, np.zeros(tests, dtype=np.int64), np.zeros(tests))
    return priority.priority(blocked, effort, np.full(runs, run_seconds), np.array(cluster or [-1] * tests), FIFTEEN)


def test_a_run_is_blocked_by_flakiness_only_when_all_that_failed_in_it_is_flaky() -> None:
    pairs = cells((0, 0), (1, 0), (0, 1), (2, 1), (1, 3), (1, 3))
    blocked = priority.blocked_runs(*pairs, np.array([True, True, False]), 5)
    assert blocked.size.tolist() == [2, 0, 0, 1, 0]
    assert list(zip(blocked.test.tolist(), blocked.run.tolist(), strict=True)) == [(0, 0), (1, 0), (1, 3)]
    incident = np.array([True, False, False, False, False])
    assert priority.blocked_runs(*pairs, np.array([True, True, False]), 5, incident=incident).count == 1


def test_a_blocked_run_is_shared_among_the_tests_that_blocked_it() -> None:
    found = ranked([(0, 0), (1, 0), (0, 1)], runs=10, tests=2)
    assert found.test.tolist() == [0, 1]
    assert found.blocked.tolist() == [2, 1]
    assert found.alone.tolist() == [1, 0]
    assert found.machine_minutes.tolist() == [15.0, 5.0]
    assert found.developer_minutes.tolist() == [22.5, 7.5]
    assert found.cost.tolist() == [37.5, 12.5]


def test_the_interval_of_the_cost_is_that_of_the_share_of_runs() -> None:
    found = ranked([(0, run) for run in range(4)], runs=50, tests=1)
    exact = stats.binomtest(4, 50).proportion_ci(0.95, "exact")
    assert found.cost[0] == 4 * 25
    assert (found.low[0], found.high[0]) == pytest.approx((exact.low * 50 * 25, exact.high * 50 * 25))


def test_failures_looked_into_and_machine_minutes_have_the_interval_of_the_cost() -> None:
    """So that each can be priced apart: at 15 minutes a failure they are the cost."""
    found = ranked([(0, 0), (1, 0), (0, 1)], runs=50, tests=3)
    first, second = (stats.binomtest(runs, 50).proportion_ci(0.95, "exact") for runs in (2, 1))
    assert found.inspected.tolist() == [1.5, 0.5, 0.0]
    assert found.inspected_low[:2] == pytest.approx([first.low * 50 * 0.75, second.low * 50 * 0.5])
    assert found.machine_high[:2] == pytest.approx([first.high * 50 * 7.5, second.high * 50 * 5])
    assert found.inspected_high[2] == pytest.approx(stats.binomtest(0, 50).proportion_ci(0.95, "exact").high * 50)
    assert found.low == pytest.approx(15 * found.inspected_low + found.machine_low)
    assert found.high == pytest.approx(15 * found.inspected_high + found.machine_high)


def test_the_order_is_by_what_is_certain_and_not_by_what_was_seen() -> None:
    """Three blocked runs of one test cost more than eight of another that share theirs, but are less certain."""
    thrice = [(0, run) for run in range(3)]
    shared = [(test, run) for run in range(3, 13) for test in (1, 2, 3, 4)]
    found = ranked(thrice + shared, runs=400, tests=5)
    assert found.cost[found.test.tolist().index(0)] > found.cost[found.test.tolist().index(1)]
    assert found.test.tolist() == [1, 2, 3, 4, 0]
    assert (np.diff(found.low) <= 0).all()


def test_a_cluster_is_one_item_with_the_union_of_its_runs() -> None:
    found = ranked([(0, 0), (1, 0), (1, 1), (2, 2)], runs=20, tests=4, cluster=[7, 7, -1, -1])
    assert found.cluster.tolist()[0] == 7
    assert found.test.tolist()[0] == -1
    assert (found.members[0], found.blocked[0], found.alone[0], found.cost[0]) == (2, 2, 2, 50.0)
    assert sorted(found.test.tolist()) == [-1, 2, 3]


def test_a_cluster_with_one_flaky_member_is_that_test() -> None:
    found = ranked([(0, 0)], runs=5, tests=2, flaky=[True, False], cluster=[0, 0])
    assert (found.test.tolist(), found.cluster.tolist(), found.members.tolist()) == ([0], [-1], [1])


def test_fixing_half_of_what_blocks_a_run_does_not_save_it() -> None:
    found = ranked([(0, 0), (1, 0), (0, 1), (0, 2), (1, 3)], runs=10, tests=2)
    assert found.test.tolist() == [0, 1]
    assert found.saved.tolist() == [0.5, 1.0]


def test_what_blocked_nothing_costs_nothing_that_is_known() -> None:
    found = ranked([(0, 0)], runs=30, tests=2)
    assert (found.cost[1], found.low[1]) == (0.0, 0.0)
    assert found.high[1] == pytest.approx(stats.binomtest(0, 30).proportion_ci(0.95, "exact").high * 30 * 25)


def test_reruns_that_cleared_the_failure_cost_machine_time_alone() -> None:
    blocked = priority.blocked_runs(*cells(), np.array([True]), 40)
    effort = RetryEffort(np.array([40]), np.array([8]), np.array([480.0]))
    found = priority.priority(blocked, effort, np.full(40, 60.0), np.array([-1]), FIFTEEN)
    assert (found.machine_minutes[0], found.developer_minutes[0], found.cost[0]) == (8.0, 0.0, 8.0)
    assert found.low[0] == pytest.approx(stats.binomtest(8, 40).proportion_ci(0.95, "exact").low * 40)
    assert np.isnan(found.saved).all()


def test_machine_minutes_without_any_duration_are_unknown_and_what_was_never_spent_is_none() -> None:
    found = ranked([(0, 0), (0, 1)], runs=20, tests=2, run_seconds=0.0)
    assert np.isnan(found.machine_minutes[0]) and found.machine_minutes[1] == 0
    assert (found.cost[0], found.developer_minutes[0]) == (30.0, 30.0), "developers' time is known all the same"
    assert found.low[0] > 0 and found.machine_low[0] == 0


@pytest.mark.parametrize(
    ("seconds", "minutes"),
    [([np.nan, np.nan], [np.nan]), ([np.nan, 60.0], [1.0]), ([0.0, np.nan], [0.0])],
)
def test_retries_are_of_unknown_time_where_no_member_tells_it(seconds: list[float], minutes: list[float]) -> None:
    blocked = priority.blocked_runs(*cells(), np.array([True, True]), 40)
    effort = RetryEffort(np.array([40, 40]), np.array([8, 8]), np.array(seconds))
    found = priority.priority(blocked, effort, np.zeros(40), np.array([3, 3]), FIFTEEN)
    assert found.machine_minutes.tolist() == pytest.approx(minutes, nan_ok=True)
    assert np.isfinite([found.cost[0], found.low[0], found.high[0]]).all()


def test_no_flaky_tests_make_an_empty_list() -> None:
    found = ranked([], runs=3, tests=2, flaky=[False, False])
    assert len(found) == 0
    assert len(ranked([], runs=0, tests=1, executed=0)) == 1
    nothing = priority.blocked_runs(*cells(), np.zeros(0, dtype=bool), 0)
    none = np.zeros(0, dtype=np.int64)
    assert len(priority.priority(nothing, RetryEffort(none, none, np.zeros(0)), np.zeros(0), none)) == 0


# -- brute force -------------------------------------------------------------------------------------------------


@settings(deadline=None)
@given(
    st.integers(1, 5).flatmap(
        lambda tests: st.tuples(
            st.lists(st.booleans(), min_size=tests, max_size=tests),
            st.lists(st.integers(-1, 1), min_size=tests, max_size=tests),
            st.lists(st.lists(st.booleans(), min_size=tests, max_size=tests), min_size=1, max_size=10),
        )
    )
)
def test_priority_is_what_looking_at_every_run_gives(drawn) -> None:  # type: ignore[no-untyped-def]
    flaky, cluster, failed = drawn
    runs, tests = len(failed), len(flaky)
    seconds = np.arange(1, runs + 1) * 60.0
    pairs = [(test, run) for run in range(runs) for test in range(tests) if failed[run][test]]
    blocked = priority.blocked_runs(*cells(*pairs), np.array(flaky), runs)
    effort = RetryEffort(np.full(tests, runs), np.zeros(tests, dtype=np.int64), np.zeros(tests))
    found = priority.priority(blocked, effort, seconds, np.array(cluster), FIFTEEN)

    by_flakes = {
        run: {test for test in range(tests) if failed[run][test]}
        for run in range(runs)
        if any(failed[run]) and all(flaky[test] for test in range(tests) if failed[run][test])
    }
    assert blocked.count == len(by_flakes)
    groups = {label: [t for t in range(tests) if flaky[t] and cluster[t] == label] for label in (0, 1)}
    clusters = {label: members for label, members in groups.items() if len(members) > 1}
    items = {(-1, label): set(members) for label, members in clusters.items()}
    joined = {test for members in clusters.values() for test in members}
    items |= {(test, -1): {test} for test in range(tests) if flaky[test] and test not in joined}
    rows = list(zip(found.test.tolist(), found.cluster.tolist(), strict=True))
    assert sorted(rows) == sorted(items)
    fixed: set[int] = set()
    for row, name in enumerate(rows):
        members = items[name]
        fixed |= members
        assert found.members[row] == len(members)
        assert found.blocked[row] == sum(bool(members & who) for who in by_flakes.values())
        assert found.alone[row] == sum(who <= members for who in by_flakes.values())
        cost = sum(len(members & who) / len(who) * (run + 1 + 15) for run, who in by_flakes.items())
        assert found.cost[row] == pytest.approx(cost)
        assert found.low[row] <= found.cost[row] + 1e-9 <= found.high[row] + 2e-9
        if by_flakes:
            assert found.saved[row] == pytest.approx(sum(who <= fixed for who in by_flakes.values()) / len(by_flakes))
    assert (np.diff(found.low) <= 1e-9).all()


attempts = st.lists(
    st.tuples(st.integers(0, 2), st.integers(0, 3), st.lists(st.sampled_from([P, F, E, S]), min_size=1, max_size=3)),
    max_size=12,
    unique_by=lambda one: one[:2],
)


@given(attempts, st.lists(st.integers(-1, 2), min_size=4, max_size=4))
def test_last_failures_and_time_spent_are_what_walking_gives(drawn, runs: list[int]) -> None:  # type: ignore[no-untyped-def]
    rows = [
        (test, report, verdict, ordinal)
        for test, report, verdicts in sorted(drawn)
        for ordinal, verdict in enumerate(verdicts)
    ]
    columns = np.array(rows, dtype=np.int64).reshape(len(rows), 4).T
    ran = executions.Executions(
        3, columns[0], columns[1], columns[2], columns[3], np.where(columns[0] == 1, np.nan, 2.0)
    )
    run_of = np.array(runs)
    ended = priority.last_failures(ran, run_of)
    test, run = ended.test, ended.run
    executed = [(t, runs[r], r, o, v) for t, r, v, o in rows if v != S and runs[r] >= 0]
    last = {key: list(group)[-1][4] for key, group in groupby(sorted(executed), key=lambda one: one[:2])}
    expected = sorted(key for key, verdict in last.items() if verdict in (F, E))
    assert sorted(zip(test.tolist(), run.tolist(), strict=True)) == expected
    effort = priority.retry_effort(ran, run_of)
    for t in range(3):
        assert effort.executed[t] == len({where for one, where, *_ in executed if one == t})
        assert effort.retried[t] == len({where for one, where, _, o, _ in executed if one == t and o > 0})
        again = sum(one == t and o > 0 for one, _, _, o, _ in executed)
        expected_seconds = 2.0 * again if t != 1 or not again else np.nan  # test 1 tells no durations
        assert effort.seconds[t] == pytest.approx(expected_seconds, nan_ok=True)


def test_blocked_runs_of_nobody_are_none() -> None:
    nothing = of_matrix(np.full((2, 3), -1))
    assert len(priority.last_failures(nothing, np.arange(3)).test) == 0
    assert isinstance(priority.blocked_runs(*cells(), np.array([True, False]), 3), BlockedRuns)


def test_what_has_recovered_is_not_to_be_fixed() -> None:
    test, run = np.array([0, 1, 1, 0]), np.array([0, 0, 1, 2])
    blocked = priority.blocked_runs(test, run, np.array([True, True]), 3)
    now = blocked.still(np.array([True, False]))
    assert (blocked.count, now.count) == (3, 2)
    assert now.size.tolist() == [1, 0, 1] and now.test.tolist() == [0, 0]


# -- beside what is broken, and in quarantine --------------------------------------------------------------------


def test_where_something_always_fails_a_flaky_test_costs_what_it_would_have_blocked() -> None:
    """Test 2 fails in all ten runs; test 0 is flaky in four of them, test 1 in one."""
    pairs = [(2, run) for run in range(10)] + [(0, run) for run in range(4)] + [(1, 7)]
    test, run = cells(*pairs)
    flaky = np.array([True, True, False])
    assert priority.blocked_runs(test, run, flaky, 10).count == 0
    blocked = priority.blocked_runs(test, run, flaky, 10, broken=test == 2)
    assert (blocked.count, blocked.would_count) == (5, 5)
    seen = RetryEffort(np.full(3, 10), np.zeros(3, dtype=np.int64), np.zeros(3))
    found = priority.priority(blocked, seen, np.full(10, 600.0), np.full(3, -1), FIFTEEN)
    assert (found.test.tolist(), found.blocked.tolist(), found.would.tolist()) == ([0, 1], [4, 1], [4, 1])
    assert (found.cost > 0).all() and (found.saved_runs.tolist(), found.blocked_runs) == ([4, 5], 5)


def test_a_regression_of_the_day_blocks_by_itself() -> None:
    test, run = cells((0, 0), (1, 0), (0, 1))
    assert priority.blocked_runs(test, run, np.array([True, False]), 2, broken=np.zeros(3, dtype=bool)).count == 1


def test_what_is_masked_blocks_nothing_and_is_counted_apart() -> None:
    """24 failures, 17 of them while it was in quarantine; another test blocks 8 runs."""
    pairs = [(0, run) for run in range(24)] + [(1, run) for run in range(30, 38)] + [(1, 3)]
    test, run = cells(*pairs)
    masked = (test == 0) & (run < 17)
    blocked = priority.blocked_runs(test, run, np.array([True, True]), 40, masked=masked)
    assert (blocked.masked.tolist(), blocked.masked_runs) == ([17, 0], 16)
    seen = RetryEffort(np.full(2, 40), np.zeros(2, dtype=np.int64), np.zeros(2))
    found = priority.priority(blocked, seen, np.full(40, 600.0), np.full(2, -1), FIFTEEN)
    assert (found.test.tolist(), found.blocked.tolist(), found.masked.tolist()) == ([1, 0], [9, 7], [0, 17])
