"""Causes from reports alone: against brute force, on published cases, and silent where there is nothing."""

import itertools
from datetime import UTC, datetime
from math import comb

import numpy as np
import pytest
import scipy

from analytics.kernel.causes.clock import DAY, Dial, clock_findings
from analytics.kernel.causes.host_sessions import constant_chance, session_findings
from analytics.kernel.causes.order_position import position_findings, positions
from analytics.kernel.causes.passive import KINDS, passive_causes
from analytics.kernel.causes.wear import turned_sums, wear_findings, wear_p_value
from analytics.kernel.executions import Executions
from analytics.kernel.order_findings import OrderFinding, order_findings
from analytics.kernel.orders import NO_PARTNERS, OrderKind, OrderVerdict
from analytics.kernel.window import Reports, Window
from tests.analytics.outcomes import of_matrix

P, F = 0, 1
MONDAY = datetime(2026, 1, 5, tzinfo=UTC).timestamp()


def draw(seed: int = 1) -> np.random.Generator:
    return np.random.default_rng(seed)


# -- the clock ---------------------------------------------------------------------------------------------------


def test_a_test_that_fails_before_the_full_hour_is_found_by_its_minutes() -> None:
    """Published: wrong from 58:20 to 59:55, which is 95 of 3,600 seconds or 2.64 % of all runs."""
    started = MONDAY + np.sort(draw().uniform(0, 60 * DAY, 4_000))
    inside = (started % 3600 >= 58 * 60 + 20) & (started % 3600 < 59 * 60 + 55)
    assert inside.mean() == pytest.approx(95 / 3600, abs=0.006)
    found = clock_findings(of_matrix(inside.astype(int)[None, :]), started).found
    (minute,) = [finding for finding in found if finding.dial is Dial.MINUTE]
    assert (
        54 < minute.block < 59 and minute.failed > 0.9 * inside.sum() and minute.failed_elsewhere < 0.1 * inside.sum()
    )
    assert minute.p_value < 1e-30 and "at other times (p = " in str(minute)
    assert {finding.dial for finding in found} == {Dial.MINUTE}


def test_weekdays_and_month_ends_are_counted_by_days() -> None:
    days = MONDAY + DAY * np.arange(84) + 3600 * 12
    sundays = (np.arange(84) % 7 == 6).astype(int)
    (weekday,) = clock_findings(of_matrix(sundays[None, :]), days).found
    assert (weekday.dial, weekday.failed, weekday.executed, weekday.failed_elsewhere) == (Dial.WEEKDAY, 12, 12, 0)
    assert str(weekday).startswith("12 of 12 days it failed on Sundays, 0 of 72 at other times")
    last = np.array([datetime.fromtimestamp(day + DAY, UTC).day == 1 for day in days]).astype(int)
    assert last.sum() == 2
    late = clock_findings(of_matrix(np.stack([last, last])), days).found
    assert late == (), "twice is too few failures to judge"
    year = MONDAY + DAY * np.arange(365)
    last = np.array([datetime.fromtimestamp(day + DAY, UTC).day == 1 for day in year]).astype(int)
    (found,) = clock_findings(of_matrix(last[None, :]), year).found
    assert (found.dial, found.failed, found.executed) == (Dial.MONTH_END, 12, 12)


def test_one_bad_sunday_with_many_runs_is_no_habit() -> None:
    started = MONDAY + 3600 * 2 * np.arange(12 * 60)
    bad = ((started - MONDAY) // DAY == 6).astype(int)
    assert clock_findings(of_matrix(bad[None, :]), started).found == ()


def test_one_bad_day_is_no_habit_of_its_seconds() -> None:
    started = MONDAY + 360.0 * np.arange(2_400) + np.tile(np.arange(0, 60, 5), 200)
    fifth = (started - MONDAY) // DAY == 4
    bad = (fifth & (started % 60 < 10)).astype(int)
    assert bad.sum() > 20
    assert [one.dial for one in clock_findings(of_matrix(bad[None, :]), started).found] == []


def test_the_tail_is_what_counting_gives() -> None:
    started = MONDAY + np.sort(draw(3).uniform(0, 30 * DAY, 300))
    bad = (draw(4).random(300) < np.where(started % 60 < 10, 0.7, 0.05)).astype(int)
    (found,) = [one for one in clock_findings(of_matrix(bad[None, :]), started).found if one.dial is Dial.SECOND]
    inside = (started.astype(int) % 60 - found.block * 5) % 60 < 10
    assert (found.executed, found.failed) == (inside.sum(), bad[inside].sum())
    ways = sum(
        comb(int(inside.sum()), k) * comb(300 - int(inside.sum()), int(bad.sum()) - k)
        for k in range(found.failed, min(int(inside.sum()), int(bad.sum())) + 1)
    )
    assert found.p_value == pytest.approx(ways / comb(300, int(bad.sum())))


def test_with_too_few_failures_nothing_is_judged() -> None:
    started = MONDAY + 3660.0 * np.arange(50)
    bad = np.zeros((2, 50), dtype=int)
    bad[0, :2], bad[1, ::5] = F, F
    judged = clock_findings(of_matrix(bad), started).judged
    assert [bool(judged[Dial.MINUTE][test]) for test in (0, 1)] == [False, True]
    assert not judged[Dial.SECOND].any(), "all runs began at the same second: there is nothing to compare"


# -- place in the order ------------------------------------------------------------------------------------------


def finding_of(place: int, kind: OrderKind = OrderKind.NDOD) -> OrderFinding:
    return OrderFinding(place, OrderVerdict(kind, 0.01, 0.5), 4, 100, NO_PARTNERS, np.zeros(0, np.int64), False)


def ordered(late: bool, seed: int = 5) -> tuple:
    """A test that fails more the later, or earlier, it runs."""
    rng = draw(seed)
    orders = tuple(rng.permutation(50) for _ in range(40))
    order = rng.integers(0, 40, 300)
    where = positions(order, orders, 7)
    bad = rng.random(300) < 0.4 * (where if late else 1 - where)
    return of_matrix(bad.astype(int)[None, :]), order, orders, np.array([7])


@pytest.mark.parametrize("late", [True, False])
def test_early_and_late_failures_are_told_apart(late: bool) -> None:
    (found,) = position_findings(*ordered(late), [finding_of(0)]).found
    assert found.late is late and (found.failing > found.passing) is late
    assert ("later" if late else "earlier") in str(found)


def test_positions_and_their_test_are_those_of_a_person_who_counts() -> None:
    executions, order, orders, failing = ordered(True)
    where = [list(orders[number]).index(7) / 49 for number in order]
    assert positions(order, orders, 7).tolist() == where
    bad = [place for place, row in zip(where, executions.failing, strict=True) if row]
    good = [place for place, row in zip(where, executions.failing, strict=True) if not row]
    wins = sum((a > b) + (a == b) / 2 for a in bad for b in good)
    expected = scipy.stats.mannwhitneyu(bad, good)
    assert expected.statistic == wins
    (found,) = position_findings(executions, order, orders, failing, [finding_of(0)]).found
    assert found.p_value == pytest.approx(float(expected.pvalue))


def test_what_a_partner_explains_or_orders_do_not_change_is_left_alone() -> None:
    assert position_findings(*ordered(True), [finding_of(0, OrderKind.NDOI)]).found == ()
    partner = OrderFinding(
        0,
        OrderVerdict(OrderKind.NDOD, 0.01, 0.5),
        4,
        100,
        type(NO_PARTNERS)(np.array([3]), np.array([0.001]), np.array([True]), np.array([True]), np.array([1])),
        np.zeros(0, np.int64),
        False,
    )
    assert position_findings(*ordered(True), [partner]).found == ()


# -- wear --------------------------------------------------------------------------------------------------------


def test_a_machine_that_ran_out_of_ports_is_found() -> None:
    """Published: 152 ports a machine; each run takes some, and from run 52 on all fail."""
    host = np.repeat(np.arange(3), 80)
    bad = np.tile((np.arange(80) >= 51).astype(int), 3)
    (found,) = wear_findings(of_matrix(bad[None, :]), host).found
    assert (found.hosts, found.failed, found.passed) == (3, 87, 153)
    assert found.failing > 52 > found.passing and found.p_value < 0.01
    assert str(found).startswith("on 3 machines it fails after many executions there: the 66th")


def test_one_machine_alone_shows_no_wear() -> None:
    bad = (np.arange(80) >= 51).astype(int)
    found = wear_findings(of_matrix(bad[None, :]), np.zeros(80, dtype=np.int64))
    assert found.found == () and not found.judged.any()


def test_machines_that_get_better_show_no_wear() -> None:
    bad = np.tile((np.arange(60) < 20).astype(int), 3)
    assert wear_findings(of_matrix(bad[None, :]), np.repeat(np.arange(3), 60)).found == ()


def test_turned_outcomes_are_all_of_them() -> None:
    bad = np.array([False, True, False, False, True])
    brute = [sum(place for place in range(5) if np.roll(bad, turn)[place]) for turn in range(5)]
    assert turned_sums(bad).tolist() == brute
    pairs = [first + second for first, second in itertools.product(brute, brute)]
    exact = sum(total >= 2 * brute[0] for total in pairs) / len(pairs)
    assert wear_p_value([bad, bad], 20_000) == pytest.approx(exact, abs=0.02)


# -- host sessions -----------------------------------------------------------------------------------------------


def test_the_chance_of_constant_sessions_is_exact() -> None:
    for sizes, failed in (([3, 3], 3), ([3, 4, 3], 7), ([3, 3, 4], 4), ([3, 3], 2)):
        total = sum(sizes)
        bounds = np.cumsum([0, *sizes])
        constant = 0
        for chosen in itertools.combinations(range(total), failed):
            counts = [sum(low <= place < high for place in chosen) for low, high in itertools.pairwise(bounds)]
            constant += all(count in (0, size) for count, size in zip(counts, sizes, strict=True))
        assert constant_chance(sizes, failed) == pytest.approx(constant / comb(total, failed))


def sessions_of(outcomes: list[list[int]], revision: list[int] | None = None) -> tuple:
    """Each row is a session on a host of its own, an execution a minute."""
    host = np.concatenate([np.full(len(row), number) for number, row in enumerate(outcomes)])
    started = np.concatenate(
        [MONDAY + 7_200 * number + 60 * np.arange(len(row)) for number, row in enumerate(outcomes)]
    )
    code = np.concatenate([np.full(len(row), (revision or [0] * len(outcomes))[n]) for n, row in enumerate(outcomes)])
    rows = of_matrix(np.concatenate([np.array(row) for row in outcomes])[None, :])
    return rows, host, started, code, np.zeros(len(host), dtype=np.int64)


def test_a_machine_that_decides_is_infrastructure() -> None:
    (found,) = session_findings(*sessions_of([[F] * 4, [P] * 4, [P] * 5, [P] * 3])).found
    assert (found.sessions, found.failing) == (4, 1)
    assert found.p_value == pytest.approx(constant_chance([4, 4, 5, 3], 4)) and found.p_value < 0.05
    assert "always failing in 1 and always passing in 3 on the same code" in str(found)
    assert str(found).endswith("the machine decides")


def test_sessions_of_several_revisions_are_judged_together() -> None:
    """Two revisions with two sessions each, and one that ran in a single session, which says nothing."""
    outcomes = [[F] * 4, [P] * 4, [P] * 3, [F] * 3, [F] * 9]
    found = session_findings(*sessions_of(outcomes, revision=[0, 0, 1, 1, 2]))
    (finding,) = found.found
    assert finding.p_value == pytest.approx(constant_chance([4, 4], 4) * constant_chance([3, 3], 3))
    assert found.judged.tolist() == [True]
    unsure = session_findings(*sessions_of([[F] * 3, [P] * 3]))
    assert unsure.found == () and unsure.judged.all(), "one in ten is chance"


def test_without_a_machine_or_a_revision_no_session_is_judged() -> None:
    rows, host, started, code, environment = sessions_of([[F] * 4, [P] * 4, [F] * 4, [P] * 4])
    for known in ((np.full_like(host, -1), code), (host, np.full_like(code, -1))):
        found = session_findings(rows, known[0], started, known[1], environment)
        assert found.found == () and found.judged.tolist() == [False]


@pytest.mark.parametrize(
    "outcomes",
    [
        [[F] * 4, [P] * 4, [P, P, F, P]],
        [[F] * 2, [P] * 9],
        [[P] * 4, [P] * 4],
    ],
)
def test_a_session_that_changes_its_mind_or_is_too_short_says_nothing(outcomes: list[list[int]]) -> None:
    assert session_findings(*sessions_of(outcomes)).found == ()


def test_other_code_is_no_other_machine() -> None:
    found = session_findings(*sessions_of([[F] * 4, [P] * 4], revision=[0, 1]))
    assert found.found == () and not found.judged.any()


def test_a_pause_ends_a_session() -> None:
    rows, host, started, code, environment = sessions_of([[F] * 4 + [P] * 4, [P] * 4])
    assert session_findings(rows, host, started, code, environment).found == ()
    started = started + np.where(np.arange(len(started)) >= 4, 90_000, 0)
    assert len(session_findings(rows, host, started, code, environment).found) == 1


# -- all together ------------------------------------------------------------------------------------------------


def stable_flaky(seed: int, tests: int = 60, reports: int = 300) -> tuple[Executions, Window]:
    """Tests that fail at a rate of their own, some in bursts, whatever the clock, the order and the machine."""
    rng = draw(seed)
    rate = rng.uniform(0.02, 0.4, (tests, 1))
    bad = rng.random((tests, reports)) < rate
    bad[::4, 1:] |= bad[::4, :-1] & (rng.random((tests, reports))[::4, 1:] < 0.5)
    hours = np.sort(rng.uniform(0, 80 * 24, reports))
    orders = tuple(rng.permutation(tests) for _ in range(12))
    none = np.zeros(reports, dtype=bool)
    zeros = np.zeros(reports, dtype=np.int64)
    window = _window(
        Reports(
            started=MONDAY + 3600 * hours,
            revision=np.arange(reports) // 6,
            environment=zeros,
            host=rng.integers(0, 5, reports),
            run=np.arange(reports),
            default_branch=~none,
            pull_request=none,
            branch=zeros,
            order=rng.integers(0, 12, reports),
            errors=none,
            executed=zeros + tests,
            seconds=np.zeros(reports),
            decided=zeros,
        ),
        tests,
        orders,
    )
    return of_matrix(bad.astype(int)), window


def _window(reports: Reports, tests: int, orders: tuple) -> Window:
    numbers, nothing = np.arange(tests), np.zeros(0, dtype=np.int64)
    return Window(
        reports=reports,
        executed=nothing,
        failed=nothing,
        skipped=nothing,
        extra=nothing,
        first=nothing,
        last=nothing,
        seconds=np.zeros(0),
        suite=nothing,
        failing=numbers,
        executions=of_matrix(np.zeros((0, 0), dtype=int)),
        retried=np.zeros(0, dtype=bool),
        signature=nothing,
        ambiguous=np.zeros(0, dtype=bool),
        signatures=(),
        orders=orders,
        excluded={},
    )


def test_of_stable_flaky_tests_at_most_one_in_twenty_gets_a_cause_that_is_not_there() -> None:
    alarms = tests = 0
    for seed in range(4):
        executions, window = stable_flaky(seed)
        orders = order_findings(executions, window.reports.order, window.orders, window.failing)
        found = passive_causes(executions, window, orders)
        alarms, tests = alarms + len(found.causes), tests + executions.tests
        assert not found.not_enough[KINDS[0]].any() and not found.not_enough[KINDS[2]].any()
    assert alarms <= 0.05 * tests


def test_what_could_not_be_judged_is_said() -> None:
    executions, window = stable_flaky(1, tests=3, reports=20)
    found = passive_causes(executions, window, ())
    assert "place in the order" in found.unjudged(0) and "host sessions" in found.unjudged(0)
    assert set(found.not_enough) == set(KINDS)
