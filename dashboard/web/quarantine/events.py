"""What happened to a quarantine, as sentences: who did what, when, why, and what changed by it."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from dashboard.quarantine.models import QuarantineEvent
from dashboard.quarantine.states import Action, ActorKind

_DID = {
    Action.PROPOSE: "proposed it",
    Action.QUARANTINE: "quarantined it",
    Action.APPROVE: "approved it",
    Action.REJECT: "rejected it",
    Action.CHANGE: "changed it",
    Action.EXTEND: "extended it",
    Action.RELEASE: "released it",
    Action.FIX: "said that it is fixed",
    Action.CONFIRM: "confirmed the fix",
    Action.EXPIRE: "ended it",
    Action.REOPEN: "reopened it",
}
_KINDS = {
    ActorKind.PERSON: "",
    ActorKind.TOKEN: "a token",
    ActorKind.POLICY: "",
    ActorKind.CLOCK: "Flakeboard's",
}
_CALLED = {
    "state": "State",
    "expires_at": "Expiry",
    "owner": "Owner",
    "ticket_url": "Ticket",
    "branches": "Branches",
    "environments": "Environments",
    "mode": "Mode",
    "tests": "Tests",
}
_EMPTY = {"branches": "all", "environments": "all"}


@dataclass(frozen=True, slots=True)
class EventSentence:
    at: datetime
    who: str
    kind: str
    """What somebody is who is no person; empty for a person, and for a policy, whose name tells."""
    did: str
    reason: str
    changes: Sequence[str]


def told_events(events: Iterable[QuarantineEvent]) -> list[EventSentence]:
    """In the order given."""
    return [
        EventSentence(
            event.at, event.actor, _KINDS[ActorKind(event.actor_kind)], did(event), event.reason, changes_of(event)
        )
        for event in events
    ]


def did(event: QuarantineEvent) -> str:
    return _DID[Action(event.action)]


def changes_of(event: QuarantineEvent) -> list[str]:
    """What changed, a sentence each; of a new one, what was said of it."""
    before: Mapping[str, Any] = event.before
    after = {name: event.after[name] for name in _CALLED if name in event.after}
    if not before:
        return [f"{_CALLED[name]}: {_value(name, value)}." for name, value in after.items() if value]
    return [
        f"{_CALLED[name]}: {_value(name, before.get(name))} became {_value(name, value)}."
        for name, value in after.items()
    ]


def _value(name: str, value: Any) -> str:
    if not value:
        return _EMPTY.get(name, "none")
    if name == "expires_at":
        return f"{datetime.fromisoformat(value):%Y-%m-%d %H:%M} UTC"
    if isinstance(value, list):
        return ", ".join(value)
    if isinstance(value, dict):
        return ", ".join(f"{key}={_joined(values)}" for key, values in value.items())
    return str(value)


def _joined(values: str | Sequence[str]) -> str:
    return values if isinstance(values, str) else " or ".join(values)
