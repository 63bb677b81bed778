"""Where failures stand out: against brute force, and on habits that a person would see."""

from collections import defaultdict
from datetime import UTC, datetime

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from analytics.kernel import executions, standouts
from analytics.kernel.parameters import Parameters
from tests.analytics import brute
from tests.analytics.outcomes import of_matrix

P, F, E, S = 0, 1, 2, 3
DAY = 86_400.0


def looked_at(outcomes: list[int], places: list[int]) -> tuple[dict[int, int], dict[int, int]]:
    """Place -> failed, executed of one test."""
    failed: dict[int, int] = defaultdict(int)
    executed: dict[int, int] = defaultdict(int)
    for outcome, place in zip(outcomes, places, strict=True):
        if place >= 0 and outcome in (P, F, E):
            executed[place] += 1
            failed[place] += outcome in brute.FAILING
    return failed, executed


@settings(deadline=None)
@given(
    st.integers(1, 40).flatmap(
        lambda reports: st.tuples(
            st.lists(
                st.lists(st.sampled_from([-1, P, P, F, E, S]), min_size=reports, max_size=reports),
                min_size=1,
                max_size=4,
            ),
            st.lists(st.integers(-1, 2), min_size=reports, max_size=reports),
        )
    ),
    st.booleans(),
)
def test_standouts_are_what_counting_places_gives(drawn, biased: bool) -> None:  # type: ignore[no-untyped-def]
    outcomes, places = drawn
    if biased:  # the first test fails at place 1 and nowhere else
        outcomes[0] = [F if place == 1 else P for place in places]
    found = standouts.standouts(of_matrix(np.array(outcomes)), np.array(places))
    asked, p_values, rows = 0, [], []
    for test, row in enumerate(outcomes):
        failed, executed = looked_at(row, places)
        if sum(failed.values()) == 0 or len(executed) < 2:
            continue
        asked += len(executed)
        for place in executed:
            if failed[place] >= 3:
                tail = brute.hypergeometric_tail(
                    sum(executed.values()), sum(failed.values()), executed[place], failed[place]
                )
                p_values.append(tail)
                rows.append((test, place, failed[place], executed[place], sum(failed.values()), sum(executed.values())))
    kept = {rows[i] for i in brute.benjamini_hochberg(p_values, max(asked, 1), 0.05)}
    elsewhere = (found.failed + found.failed_elsewhere, found.executed + found.executed_elsewhere)
    columns = (found.test, found.place, found.failed, found.executed, *elsewhere)
    assert set(zip(*(column.tolist() for column in columns), strict=True)) == kept
    assert (np.diff(found.p_value) >= 0).all()
    for row in range(len(found)):
        here = rows.index(tuple(int(column[row]) for column in columns))  # type: ignore[arg-type]
        assert found.p_value[row] == pytest.approx(p_values[here])


def test_the_one_bad_host_is_told() -> None:
    rng = np.random.default_rng(1)
    host = rng.integers(0, 6, 600)
    outcomes = np.stack([(rng.random(600) < np.where(host == 4, 0.2, 0.01)), rng.random(600) < 0.05]).astype(int)
    found = standouts.standouts(of_matrix(outcomes), host)
    assert list(zip(found.test.tolist(), found.place.tolist(), strict=True)) == [(0, 4)]
    assert found.executed[0] + found.executed_elsewhere[0] == 600


def test_attempts_of_one_report_are_one_witness() -> None:
    """Three failing attempts of one run on one host show one bad run."""
    test = np.zeros(103, dtype=int)
    report = np.concatenate([[0, 0, 0], np.arange(1, 101)])
    ordinal = np.concatenate([[0, 1, 2], np.zeros(100, dtype=int)])
    verdict = np.where(report == 0, F, P)
    ran = executions.Executions(1, test, report, verdict, ordinal, np.full(103, np.nan))
    host = np.where(np.arange(101) == 0, 0, 1)
    assert len(standouts.standouts(ran, host, Parameters(few_failures=1)).test) == 1
    assert len(standouts.standouts(ran, host)) == 0


def test_one_place_and_unknown_places_tell_nothing() -> None:
    outcomes = np.array([[F] * 10 + [P] * 10])
    one = standouts.standouts(of_matrix(outcomes), np.zeros(20, dtype=int))
    unknown = standouts.standouts(of_matrix(outcomes), np.full(20, -1))
    nothing = standouts.standouts(of_matrix(np.full((2, 0), -1)), np.zeros(0, dtype=int))
    assert len(one) == len(unknown) == len(nothing) == 0


# -- hours -------------------------------------------------------------------------------------------------------


@given(st.datetimes(datetime(1971, 1, 1), datetime(2100, 1, 1)))  # noqa: DTZ001
def test_the_hour_is_that_of_the_clock(when: datetime) -> None:
    when = when.replace(tzinfo=UTC)
    assert standouts.hours(np.array([when.timestamp()]))[0] == when.hour


def every_hour(days: int) -> np.ndarray:
    return np.arange(days * 24) * 3600.0 + 60


def test_a_test_that_fails_at_night_is_told_with_its_hours() -> None:
    started = every_hour(40)
    rng = np.random.default_rng(2)
    night = np.isin(standouts.hours(started), [23, 0, 1])
    outcomes = np.stack([night & (rng.random(len(started)) < 0.3), rng.random(len(started)) < 0.05]).astype(int)
    found = standouts.hour_standouts(of_matrix(outcomes), started)
    assert found.test.tolist() == [0]
    assert (found.from_hour[0], found.to_hour[0]) == (22, 2)
    assert found.failed_elsewhere[0] == 0


def test_one_bad_night_is_no_habit() -> None:
    started = every_hour(40)
    outcomes = np.zeros((1, len(started)), dtype=int)
    outcomes[0, 24 * 7 + 2 : 24 * 7 + 6] = F
    assert len(standouts.hour_standouts(of_matrix(outcomes), started)) == 0


@settings(max_examples=50)
@given(st.integers(0, 500), st.integers(0, 23), st.floats(0, 1))
def test_blocks_of_hours_are_what_counting_gives(seed: int, hour: int, rate: float) -> None:
    rng = np.random.default_rng(seed)
    started = np.sort(rng.uniform(0, 20 * DAY, 150))
    clock = standouts.hours(started)
    outcomes = np.stack(
        [np.where(clock == hour, rng.random(150) < rate, rng.random(150) < 0.03), rng.random(150) < 0.1]
    ).astype(int)
    found = standouts.hour_standouts(of_matrix(outcomes), started)
    asked, p_values, rows = 0, [], []
    for test, row in enumerate(outcomes):
        for start in range(0, 24, 2):
            inside = [i for i in range(150) if (clock[i] - start) % 24 < 4]
            failed, total = int(row[inside].sum()), int(row.sum())
            if not inside or len(inside) == 150 or not total:
                continue
            asked += 1
            days = {int((started[i] - 3600 * start) // DAY) for i in inside if row[i]}
            if len(days) >= 3:
                p_values.append(brute.hypergeometric_tail(150, total, len(inside), failed))
                rows.append((test, start, failed, len(inside)))
    kept = brute.benjamini_hochberg(p_values, max(asked, 1), 0.05)
    best = {}
    for i in sorted(kept, key=lambda i: (round(p_values[i], 12), -rows[i][2])):
        best.setdefault(rows[i][0], p_values[i])
    assert set(found.test.tolist()) == set(best)
    for row in range(len(found)):
        told = (found.test[row], found.from_hour[row], found.failed[row], found.executed[row])
        assert p_values[rows.index(tuple(int(one) for one in told))] == pytest.approx(best[int(found.test[row])])
        assert found.p_value[row] == pytest.approx(best[int(found.test[row])])
