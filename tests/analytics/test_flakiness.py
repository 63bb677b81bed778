"""Flaky, broken, suspect: the evidence by brute force, and the states on histories that people would recognise."""

from itertools import groupby

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from analytics.kernel import bursts, executions, flakiness
from analytics.kernel.flakiness import Situation, State
from tests.analytics.outcomes import of_matrix

P, F, E, S = 0, 1, 2, 3


def situation(
    revisions: list[int],
    environments: list[int] | None = None,
    main: list[bool] | None = None,
    requests: list[bool] | None = None,
) -> Situation:
    """Every report is of the main line unless told otherwise, and what is not of a pull request."""
    count = len(revisions)
    on_main = np.array(main if main is not None else [True] * count, dtype=bool)
    return Situation(
        revision=np.array(revisions, dtype=np.int64),
        environment=np.array(environments or [0] * count, dtype=np.int64),
        run=np.arange(count),
        mainline=on_main,
        pull_request=~on_main if requests is None else np.array(requests, dtype=bool),
    )


def concluded(outcomes: list[int], revisions: list[int], **known: list) -> State:  # type: ignore[type-arg]
    ran = of_matrix(np.array([outcomes]))
    where = situation(revisions, **known)
    found = flakiness.evidence(ran, where, np.ones(len(ran.test), dtype=bool))
    inside = bursts.bursts(ran, where.environment, where.revision)
    lately = flakiness.streaks(ran, where)
    none = np.zeros(1, dtype=bool)
    return State(flakiness.states(found, lately, inside, (0.5, 0.5), ambiguous=none)[0])


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
        ([F, P] + [P] * 400, [1] * 402, State.FLAKY),
        ([P, F, P] + [P] * 400, [1, 2, 2] + [1] * 400, State.FLAKY),
        ([P, P, F, F, F], [1, 1, 1, 1, 1], State.BROKEN),
        ([P, P, F, F], [1, 1, 1, 1], State.FLAKY),
        ([P, F, F, F, P], [1, 1, 1, 1, 1], State.FLAKY),
        ([P, F, F, F, P, P], [1, 1, 1, 1, 2, 3], State.SUSPECT),
    ],
)
def test_states_that_people_would_give(outcomes: list[int], revisions: list[int], state: State) -> None:
    assert concluded(outcomes, revisions) is state


def test_a_pass_in_another_environment_contradicts_nothing() -> None:
    assert concluded([P, F, P, F], [1, 1, 2, 2], environments=[0, 1, 0, 1]) is not State.FLAKY
    assert concluded([P, F, P], [1, 1, 1], environments=[0, 0, 0]) is State.FLAKY


def test_a_failing_pull_request_is_no_flaky_test_and_no_broken_one() -> None:
    assert concluded([P, F, P], [1, 2, 1], main=[True, False, True]) is State.STABLE


def test_what_fails_in_all_its_runs_is_broken_unless_it_is_new_on_a_pull_request() -> None:
    feature = [False, False, False]
    assert concluded([F, F, F], [1, 2, 3], main=feature) is State.STABLE
    assert concluded([F, F, F], [1, 2, 3], main=feature, requests=feature) is State.BROKEN
    assert concluded([F, F], [1, 2], main=[False, False], requests=[False, False]) is State.STABLE
    assert concluded([F, F, F, P], [1, 2, 3, 3], main=[*feature, True], requests=[False] * 4) is not State.BROKEN


@pytest.mark.parametrize(
    ("outcomes", "revisions", "state"),
    [
        ([P, P, *[F] * 6, P, P], [1, 1, 1, 1, 2, 2, 3, 3, 3, 4], State.SUSPECT),
        ([P, P, *[F] * 5, P, P], [1, 1, 1, 1, 2, 2, 3, 3, 4], State.FLAKY),  # as long as bursts are
        ([P, P, F, F, P, F, F, F, F, P], [1, 1, 1, 1, 2, 2, 3, 3, 3, 4], State.FLAKY),
        ([P, P, *[F] * 6, P, P], [1] * 10, State.FLAKY),
        ([P, P, F, F, F], [1, 1, 1, 2, 3], State.BROKEN),
        ([P, P, F, F], [1, 1, 1, 2], State.FLAKY),
    ],
)
def test_what_something_else_broke_for_long_is_not_flaky(
    outcomes: list[int], revisions: list[int], state: State
) -> None:
    """In two environments by turns: neither a commit broke it nor did one mend it."""
    assert concluded(outcomes, revisions, environments=[at % 2 for at in range(len(outcomes))]) == state


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


def outages(row: list[int], revisions: list[int]) -> set[int]:
    """Reports of failures in a row: 6 or more at several revisions, or 3 or more to the end."""
    ran = [at for at, one in enumerate(row) if one in (P, F, E)]
    found: set[int] = set()
    for failing, group in groupby(ran, key=lambda at: row[at] in (F, E)):
        streak = list(group)
        long = len(streak) >= 6 and len({revisions[at] for at in streak}) > 1
        if failing and (long or (len(streak) >= 3 and streak[-1] == ran[-1])):
            found |= set(streak)
    return found


@given(histories)
@example(([[P, F, F, F]], [1, 1, 2, 3], [0, 0, 0, 0], [True] * 4))
@example(([[P, F, F, F, P]], [1, 1, 2, 2, 2], [0] * 5, [True] * 5))
@example(([[P, *[F] * 6, P]], [1, 1, 1, 2, 2, 3, 3, 3], [0, 0, 1, 0, 1, 0, 1, 0], [True] * 8))
def test_evidence_is_what_looking_gives(drawn) -> None:  # type: ignore[no-untyped-def]
    outcomes, revisions, environments, main = drawn
    ran = of_matrix(np.array(outcomes))
    where = situation(revisions, environments, main)
    found = flakiness.evidence(ran, where, np.zeros(len(ran.test), dtype=bool))
    lately = flakiness.streaks(ran, where)
    for test, row in enumerate(outcomes):
        seen: dict[tuple[int, int], list[bool]] = {}
        out = outages(row, revisions)
        for at, (one, revision, environment) in enumerate(zip(row, revisions, environments, strict=True)):
            if one in (P, F, E) and revision >= 0 and at not in out:
                seen.setdefault((revision, environment), []).append(one in (F, E))
        broke = [bad for bad in seen.values() if bad == sorted(bad) and sum(bad) >= 3]
        mixed = [bad for bad in seen.values() if len(set(bad)) == 2 and bad not in broke]
        assert found.contradictions[test] == len(mixed)
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
