"""What a policy does, without a database: never the wrong test, never more than the cap."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from analytics.kernel.flakiness import State as Concluded
from dashboard.quarantine.policy import Candidate, Held, Moment, Plan, cap_of, fits, plan
from dashboard.quarantine.policy_settings import DEFAULTS, BadSettings, PolicyMode, PolicySettings
from dashboard.quarantine.states import LIVE, Action, State

NOW = datetime(2026, 6, 1, tzinfo=UTC)
AT_ONCE = replace(DEFAULTS, mode=PolicyMode.QUARANTINE)
FLAKY = Candidate(
    number=1,
    state=Concluded.FLAKY,
    evidence=3,
    failed=4,
    executed=100,
    low=0.01,
    default_failures=2,
    blocked=2,
    cost=10.0,
    flaky_since=NOW - timedelta(days=9),
    last_flaked=NOW - timedelta(days=1),
    needed=120,
)


def planned(*candidates: Candidate, held: tuple[Held, ...] = (), settings: PolicySettings = AT_ONCE, **moment) -> Plan:
    return plan(settings, Moment(NOW, **({"suite": 1_000} | moment)), candidates, held)


def steps(*candidates: Candidate, **options) -> list[tuple[str, tuple[int, ...]]]:
    return [(step.action.value, step.numbers) for step in planned(*candidates, **options).steps]


def test_a_flaky_test_that_blocks_is_quarantined_or_proposed_as_the_mode_says() -> None:
    assert steps(FLAKY) == [("quarantine", (1,))]
    assert steps(FLAKY, settings=DEFAULTS) == [("propose", (1,))]
    assert steps(FLAKY, settings=replace(DEFAULTS, mode=PolicyMode.OFF)) == []
    step = planned(FLAKY).steps[0]
    assert step.needed == 120
    assert step.reason == (
        "It passed and failed on the same code 3 times, failed 4 of 100 executions (at least 1.00%) and blocked 2 runs."
    )


@pytest.mark.parametrize("state", [state for state in Concluded if state is not Concluded.FLAKY])
def test_no_state_but_flaky_is_ever_quarantined(state: Concluded) -> None:
    assert steps(replace(FLAKY, state=state)) == []


@pytest.mark.parametrize(
    ("weaker", "settings"),
    [
        ({"evidence": 1}, AT_ONCE),
        ({"blocked": 0}, AT_ONCE),
        ({"default_failures": 0}, AT_ONCE),
        ({"flaky_since": None}, AT_ONCE),
        ({"low": 0.01}, replace(AT_ONCE, least_rate=0.02)),
        ({"flaky_since": NOW - timedelta(days=3)}, replace(AT_ONCE, least_age_days=4)),
    ],
)
def test_every_condition_must_be_met(weaker: dict, settings: PolicySettings) -> None:
    assert steps(replace(FLAKY, **weaker), settings=settings) == []


def test_nothing_new_while_an_incident_is_on_but_what_is_clean_may_leave() -> None:
    clean = Held(5, State.ACTIVE, (2,), enough=True)
    told = planned(FLAKY, held=(clean,), incident=True)
    assert told.paused
    assert [step.action for step in told.steps] == [Action.RELEASE]


def test_past_the_cap_it_shouts_and_the_dearest_come_first() -> None:
    some = [replace(FLAKY, number=number, cost=float(number)) for number in range(30)]
    told = planned(*some, suite=100)
    assert [step.numbers[0] for step in told.steps] == [29, 28, 27, 26, 25]
    assert len(told.over) == 25
    assert planned(*some, suite=10_000, settings=replace(AT_ONCE, most_tests=7)).cap == 7


def test_what_is_live_counts_against_the_cap_and_what_leaves_does_not() -> None:
    live = tuple(Held(n, State.ACTIVE, (100 + n,)) for n in range(5))
    assert planned(FLAKY, held=live, suite=100).over == (1,)
    leaving = (replace(live[0], enough=True), *live[1:])
    assert steps(FLAKY, held=leaving, suite=100) == [("release", (100,)), ("quarantine", (1,))]


def test_a_small_suite_may_have_one() -> None:
    assert (cap_of(DEFAULTS, 3), cap_of(DEFAULTS, 0), cap_of(replace(DEFAULTS, most_tests=0), 3)) == (1, 1, 0)


@pytest.mark.parametrize("state", sorted(LIVE))
def test_what_is_live_is_left_alone(state: State) -> None:
    assert steps(FLAKY, held=(Held(5, State(state), (1,)),)) == []


@pytest.mark.parametrize("state", [State.RELEASED, State.FIXED])
def test_what_flakes_again_is_reopened_and_only_then(state: State) -> None:
    before, after = (Held(5, state, (1,), ended_at=NOW - timedelta(days=days)) for days in (0.5, 2))
    assert steps(FLAKY, held=(after,)) == [("reopen", (1,))]
    assert steps(FLAKY, held=(before,)) == []
    assert steps(FLAKY, held=(after,), settings=replace(AT_ONCE, reopen=False)) == []
    assert steps(replace(FLAKY, state=Concluded.BROKEN), held=(after,)) == []


@pytest.mark.parametrize("state", [State.EXPIRED, State.REJECTED])
def test_what_people_let_go_is_left_alone_for_a_while(state: State) -> None:
    ended = Held(5, state, (1,), ended_at=NOW - timedelta(days=29))
    assert steps(FLAKY, held=(ended,)) == []
    assert steps(FLAKY, held=(replace(ended, ended_at=NOW - timedelta(days=31)),)) == [("quarantine", (1,))]
    assert steps(FLAKY, held=(replace(ended, by_people=False),)) == [("quarantine", (1,))]


def test_clean_long_enough_is_released_unless_the_policy_leaves_that_to_people() -> None:
    clean = Held(5, State.ACTIVE, (1, 2), enough=True)
    assert steps(held=(clean,)) == [("release", (1, 2))]
    assert steps(held=(clean,), settings=replace(AT_ONCE, release=False)) == []


def test_a_policys_quarantine_of_a_test_that_broke_is_released_and_somebodys_is_not() -> None:
    broken, held = replace(FLAKY, state=Concluded.BROKEN), Held(5, State.ACTIVE, (1,), by_policy=True)
    assert steps(broken, held=(held,)) == [("release", (1,))]
    assert steps(broken, held=(replace(held, by_policy=False),)) == []


def test_a_proposal_of_the_policy_is_taken_back_when_the_test_is_something_else() -> None:
    proposed = Held(5, State.PROPOSED, (1,), by_policy=True)
    assert steps(replace(FLAKY, state=Concluded.BROKEN), held=(proposed,)) == [("reject", (1,))]
    assert steps(held=(proposed,)) == [("reject", (1,))]
    assert steps(replace(FLAKY, state=Concluded.BROKEN), held=(replace(proposed, by_policy=False),)) == []


_CANDIDATES = st.lists(
    st.builds(
        Candidate,
        number=st.integers(0, 12),
        state=st.sampled_from(Concluded),
        evidence=st.integers(0, 5),
        low=st.floats(0, 1),
        default_failures=st.integers(0, 2),
        blocked=st.integers(0, 3),
        cost=st.floats(0, 100),
        flaky_since=st.sampled_from([None, NOW - timedelta(days=5)]),
        last_flaked=st.sampled_from([None, NOW - timedelta(days=1)]),
    ),
    unique_by=lambda one: one.number,
)
_HELD = st.lists(
    st.builds(
        Held,
        id=st.integers(0, 10**6),
        state=st.sampled_from(State),
        numbers=st.tuples(st.integers(0, 12)),
        by_policy=st.booleans(),
        enough=st.booleans(),
        ended_at=st.sampled_from([None, NOW - timedelta(days=2), NOW - timedelta(days=60)]),
        by_people=st.booleans(),
    ),
    unique_by=(lambda one: one.numbers, lambda one: one.id),
)
_SETTINGS = st.builds(
    PolicySettings,
    mode=st.sampled_from(PolicyMode),
    least_evidence=st.integers(1, 3),
    most_tests=st.integers(0, 5),
    most_share=st.floats(0, 1),
    release=st.booleans(),
    reopen=st.booleans(),
)


@given(_SETTINGS, _CANDIDATES, _HELD, st.booleans(), st.integers(0, 100))
def test_whatever_is_held_the_rules_hold(settings, candidates, held, incident: bool, suite: int) -> None:
    told = plan(settings, Moment(NOW, suite, incident), candidates, held)
    state_of = {one.number: one.state for one in candidates}
    comes = [step for step in told.steps if step.action in (Action.PROPOSE, Action.QUARANTINE, Action.REOPEN)]
    assert all(state_of[number] is Concluded.FLAKY for step in comes for number in step.numbers)
    assert not (incident and comes)
    assert settings.mode is not PolicyMode.OFF or not told.steps
    leaves = {step.quarantine for step in told.steps if step.action in (Action.RELEASE, Action.REJECT)}
    live = {number for one in held if one.state in LIVE and one.id not in leaves for number in one.numbers}
    added = [number for step in comes for number in step.numbers]
    assert len(live) + len(added) <= max(told.cap, len(live))
    assert len(set(added)) == len(added) and not set(added) & live
    assert all(
        fits(settings, one, NOW)
        for one in candidates
        if any(s.quarantine is None and s.numbers == (one.number,) for s in comes)
    )


# -- settings ----------------------------------------------------------------------------------------------------


def test_settings_survive_storing() -> None:
    settings = replace(AT_ONCE, least_rate=0.25, exit_codes={"other": (3, 4)})
    assert PolicySettings.from_json(settings.as_json()) == settings
    assert PolicySettings.from_json({}) == DEFAULTS


@pytest.mark.parametrize(
    "wrong",
    [
        {"mode": "always"}, {"mode": ["off"]}, {"least_rate": 2}, {"least_rate": float("nan")}, {"days": 0}, {"days": 1.5},
        {"days": True}, {"release": 1}, {"colour": 1}, {"most_share": "5 %"}, {"exit_codes": {"x": [0]}},
        {"exit_codes": {"x": [137]}}, {"exit_codes": {"x": 1}}, {"exit_codes": [1]}, {"missing_share": 1},
    ],
)  # fmt: skip
def test_settings_that_cannot_be_are_refused_with_a_sentence(wrong: dict) -> None:
    with pytest.raises(BadSettings) as told:
        PolicySettings.from_json(wrong)
    assert next(iter(wrong)) in told.value.sentence
