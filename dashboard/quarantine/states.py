"""The states of a quarantine and the one table of what leads from which to which. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum


class State(StrEnum):
    PROPOSED = "proposed"
    ACTIVE = "active"
    """Its tests' failures don't block."""
    RELEASED = "released"
    """Clean long enough, or let go by somebody: they block again."""
    FIXED = "fixed"
    """Somebody says that the cause is gone."""
    EXPIRED = "expired"
    REJECTED = "rejected"


class Action(StrEnum):
    PROPOSE = "propose"
    QUARANTINE = "quarantine"
    """Begins active, without a proposal."""
    APPROVE = "approve"
    REJECT = "reject"
    CHANGE = "change"
    """Owner, ticket, scope or mode; the state stays."""
    EXTEND = "extend"
    RELEASE = "release"
    FIX = "fix"
    """Somebody, or a closed ticket, claims that the cause is gone."""
    CONFIRM = "confirm"
    """Its tests were clean since for as many runs as it takes; the state stays."""
    EXPIRE = "expire"
    REOPEN = "reopen"


class ActorKind(StrEnum):
    """Who acts."""

    PERSON = "person"
    TOKEN = "token"  # noqa: S105 - a word, no secret
    POLICY = "policy"
    CLOCK = "clock"


@dataclass(frozen=True, slots=True)
class Transition:
    """From which states an action is possible, and where it leads."""

    origins: frozenset[State]
    """Empty: it begins a quarantine."""
    target: State | None
    """None: the state stays as it is."""

    def target_from(self, state: State) -> State:
        return state if self.target is None else self.target


LIVE = frozenset({State.PROPOSED, State.ACTIVE})
"""A test is in at most one quarantine of these states."""
ENDED = frozenset(State) - LIVE

TRANSITIONS: Mapping[Action, Transition] = {
    Action.PROPOSE: Transition(frozenset(), State.PROPOSED),
    Action.QUARANTINE: Transition(frozenset(), State.ACTIVE),
    Action.APPROVE: Transition(frozenset({State.PROPOSED}), State.ACTIVE),
    Action.REJECT: Transition(frozenset({State.PROPOSED}), State.REJECTED),
    Action.CHANGE: Transition(LIVE, None),
    Action.EXTEND: Transition(frozenset({State.ACTIVE}), None),
    Action.RELEASE: Transition(frozenset({State.ACTIVE}), State.RELEASED),
    Action.FIX: Transition(frozenset({State.ACTIVE}), State.FIXED),
    Action.CONFIRM: Transition(frozenset({State.FIXED}), None),
    Action.EXPIRE: Transition(frozenset({State.ACTIVE}), State.EXPIRED),
    Action.REOPEN: Transition(frozenset({State.RELEASED, State.FIXED, State.EXPIRED}), State.ACTIVE),
}


class NotAllowed(Exception):
    """The action does not lead anywhere from this state."""

    def __init__(self, action: Action, state: State) -> None:
        self.action, self.state = action, state
        self.sentence = f"It is {state}, and {action} is possible only when it is {_words(action)}."
        super().__init__(self.sentence)


def _words(action: Action) -> str:
    return " or ".join(sorted(TRANSITIONS[action].origins)) or "new"


def after(action: Action, state: State) -> State:
    """The state that an action leads to."""
    transition = TRANSITIONS[action]
    if state not in transition.origins:
        raise NotAllowed(action, state)
    return transition.target_from(state)


def first(action: Action) -> State:
    """The state of a quarantine that begins with this action."""
    transition = TRANSITIONS[action]
    if transition.origins or transition.target is None:
        raise ValueError(f"{action} begins nothing")
    return transition.target


def possible(state: State) -> tuple[Action, ...]:
    """What can be done from a state, in the table's order."""
    return tuple(action for action, transition in TRANSITIONS.items() if state in transition.origins)
