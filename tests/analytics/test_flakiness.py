"""Flaky, broken, suspect: the evidence by brute force, and the states on histories that people would recognise."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from analytics.kernel import bursts, executions, flakiness
from analytics.kernel.flakiness import Situation, State

P, F, E, S = 0, 1, 2, 3


def situation(revisions: list[int], environments: list[int] | None = None, main: list[bool] | None = None) -> Situation:
    count = len(revisions)
    return Situation(
        revision=np.array(revisions, dtype=np.int64),
        environment=np.array(environments or [0] * count, dtype=np.int64),
        run=np.arange(count),
        default_branch=np.array(main if main is not None else [True] * count, dtype=bool),
    )


def concluded(outcomes: list[int], revisions: list[int], **known: list) -> State:  # type: ignore[type-arg]
    ran = executions.of_matrix(np.array([outcomes]))
    where = situation(revisions, **known)
    found = flakiness.evidence(ran, where, np.ones(len(ran.test), dtype=bool))
    inside = bursts.bursts(ran, where.environment, where.revision)
    lately = flakiness.streaks(ran, where)
    none = np.zeros(1, dtype=bool)
    return State(flakiness.states(found, lately, inside, (0.5, 0.5), only_in_incidents=none, ambiguous=none)[0])


@pytest.mark.parametrize(
    ("outcomes", "revisions", "state"),
    [
        ([P, P, P, P], [1, 2, 3, 4], State.STABLE),
        ([P, F, P], [1, 2, 2], State.FLAKY),
        ([P, E, P], [1, 2, 2], State.FLAKY),
        ([P, P, F, F, F], [1, 2, 3, 4, 5], State.BROKEN),
        ([P, P, F], [1, 2, 3], State.BROKEN),
        ([P, F, F, P, P], [1, 2, 2, 3, 4], State.SUSPECT),
        ([P] * 9 + [F, P] + [P] * 400, [1] * 11 + list(range(2, 402)), State.RECOVERED),
        ([P] * 50 + [F, P] + [P] * 30, [1] * 52 + list(range(2, 32)), State.FLAKY),
        ([F, F, F], [1, 1, 1], State.BROKEN),
        ([S, S, S], [1, 2, 3], State.STABLE),
        ([P, F], [-1, -1], State.BROKEN),
        ([P, F, P], [-1, -1, -1], State.SUSPECT),
        ([P, F] * 6 + [F] * 40, [1] * 12 + list(range(2, 42)), State.BROKEN),
        ([P, F] * 6 + [F], [1] * 12 + [2], State.FLAKY),
    ],
)
def test_states_that_people_would_give(outcomes: list[int], revisions: list[int], state: State) -> None:
    assert concluded(outcomes, revisions) is state


def test_a_pass_in_another_environment_contradicts_nothing() -> None:
    assert concluded([P, F, P, F], [1, 1, 2, 2], environments=[0, 1, 0, 1]) is not State.FLAKY
    assert concluded([P, F, P], [1, 1, 1], environments=[0, 0, 0]) is State.FLAKY


def test_a_failing_pull_request_is_no_flaky_test_and_no_broken_one() -> None:
    assert concluded([P, F, P], [1, 2, 1], main=[True, False, True]) is State.STABLE


def test_a_recovery_is_evidence_without_a_revision() -> None:
    ran = executions.Executions(
        1, np.array([0, 0]), np.array([0, 0]), np.array([F, P]), np.array([0, 1]), np.array([np.nan, np.nan])
    )
    where = situation([-1])
    told = flakiness.evidence(ran, where, np.array([True, True]))
    assert (told.contradictions[0], told.recoveries[0], told.first[0], told.last[0]) == (0, 1, 0, 0)
    unknown = flakiness.evidence(ran, where, np.array([False, False]))
    assert (unknown.recoveries[0], unknown.last[0]) == (0, -1)


histories = st.integers(1, 10).flatmap(
    lambda reports: st.tuples(
        st.lists(
            st.lists(st.sampled_from([-1, P, P, F, E, S]), min_size=reports, max_size=reports), min_size=1, max_size=4
        ),
        st.lists(st.integers(-1, 3), min_size=reports, max_size=reports),
        st.lists(st.integers(0, 1), min_size=reports, max_size=reports),
        st.lists(st.booleans(), min_size=reports, max_size=reports),
    )
)


@given(histories)
def test_evidence_is_what_looking_gives(drawn) -> None:  # type: ignore[no-untyped-def]
    outcomes, revisions, environments, main = drawn
    ran = executions.of_matrix(np.array(outcomes))
    where = situation(revisions, environments, main)
    found = flakiness.evidence(ran, where, np.zeros(len(ran.test), dtype=bool))
    lately = flakiness.streaks(ran, where)
    for test, row in enumerate(outcomes):
        seen: dict[tuple[int, int], set[bool]] = {}
        for one, revision, environment in zip(row, revisions, environments, strict=True):
            if one in (P, F, E) and revision >= 0:
                seen.setdefault((revision, environment), set()).add(one in (F, E))
        assert found.contradictions[test] == sum(len(both) == 2 for both in seen.values())
        tails, reversals = [0], 0
        for place in set(environments):
            there = [
                one in (F, E)
                for one, branch, where in zip(row, main, environments, strict=True)
                if branch and where == place and one in (P, F, E)
            ]
            shape = [one for i, one in enumerate(there) if i == 0 or there[i - 1] != one]
            reversals += sum(one for one in shape[1:-1])
            tails.append(len(there) - max((i + 1 for i, one in enumerate(there) if not one), default=0))
        assert found.reversals[test] == reversals
        assert lately.failing[test] == max(tails)
        everywhere = [one in (F, E) for one in row if one in (P, F, E)]
        assert lately.clean[test] == len(everywhere) - max(
            (i + 1 for i, one in enumerate(everywhere) if one), default=0
        )


def test_broken_in_one_environment_is_broken_and_an_environment_of_long_ago_is_not() -> None:
    linux, macos = 0, 1
    alternating = [P, P] * 3 + [P, F] * 5
    assert concluded(alternating, list(range(16)), environments=[linux, macos] * 8) is State.BROKEN
    long_ago = [F] + [P] * 25
    assert concluded(long_ago, list(range(26)), environments=[macos] + [linux] * 25) is not State.BROKEN
