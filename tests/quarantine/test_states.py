"""The table of states: every action from every state, nothing besides what it says."""

import itertools

import pytest

from dashboard.quarantine.states import ENDED, LIVE, TRANSITIONS, Action, NotAllowed, State, after, first, possible

ALLOWED = {
    (Action.APPROVE, State.PROPOSED): State.ACTIVE,
    (Action.REJECT, State.PROPOSED): State.REJECTED,
    (Action.CHANGE, State.PROPOSED): State.PROPOSED,
    (Action.CHANGE, State.ACTIVE): State.ACTIVE,
    (Action.EXTEND, State.ACTIVE): State.ACTIVE,
    (Action.RELEASE, State.ACTIVE): State.RELEASED,
    (Action.FIX, State.ACTIVE): State.FIXED,
    (Action.CONFIRM, State.FIXED): State.FIXED,
    (Action.EXPIRE, State.ACTIVE): State.EXPIRED,
    (Action.REOPEN, State.RELEASED): State.ACTIVE,
    (Action.REOPEN, State.FIXED): State.ACTIVE,
    (Action.REOPEN, State.EXPIRED): State.ACTIVE,
}


@pytest.mark.parametrize(("action", "state"), list(itertools.product(Action, State)))
def test_an_action_leads_where_the_table_says_or_nowhere(action: Action, state: State) -> None:
    if (action, state) in ALLOWED:
        assert after(action, state) is ALLOWED[action, state]
    else:
        with pytest.raises(NotAllowed) as told:
            after(action, state)
        assert state in told.value.sentence


@pytest.mark.parametrize("action", Action)
def test_only_propose_and_quarantine_begin_one(action: Action) -> None:
    begins = {Action.PROPOSE: State.PROPOSED, Action.QUARANTINE: State.ACTIVE}
    if action in begins:
        assert first(action) is begins[action]
    else:
        with pytest.raises(ValueError):
            first(action)


def test_every_action_is_in_the_table_and_every_state_is_live_or_ended() -> None:
    assert set(TRANSITIONS) == set(Action)
    assert set(State) == LIVE | ENDED
    assert not LIVE & ENDED


def test_every_state_can_be_reached() -> None:
    reached = {first(Action.PROPOSE), first(Action.QUARANTINE)}
    for _ in State:
        reached |= {after(action, state) for state in reached for action in possible(state)}
    assert reached == set(State)


def test_a_rejected_proposal_stays_rejected() -> None:
    assert possible(State.REJECTED) == ()


def test_what_is_not_possible_is_said_with_what_would_be() -> None:
    for action, transition in TRANSITIONS.items():
        for state in set(State) - set(transition.origins):
            said = NotAllowed(action, state).sentence
            assert said.startswith(f"It is {state}, and {action} is possible only when it is ")
            assert all(origin in said for origin in transition.origins) and "None" not in said
            assert transition.origins or said.endswith("new.")
