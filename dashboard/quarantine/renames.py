"""Deciding on a rename. Accepted, it can bring tests under a quarantine: the quarantine and the audit log say which."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

from django.db import transaction
from django.db.models import F, Q

from dashboard.people.audit import audit
from dashboard.quarantine.models import Member, Quarantine, QuarantineEvent
from dashboard.quarantine.services import Actor
from dashboard.quarantine.states import Action, ActorKind, State
from ingest.models import Rename, Test
from ingest.renames import rename_decide

READER = Actor(ActorKind.CLOCK, "upgrade")


@transaction.atomic
def rename_settle(*, rename: Rename, accept: bool, user_id: int | None, actor: Actor) -> bool:
    """Accept or dismiss a suggested rename; return False if someone else settled it first."""
    old, new = _names(rename.old), _names(rename.new.alias_of or rename.new)
    if not rename_decide(rename=rename, accept=accept, user_id=user_id):
        return False
    widened = _widened(old, new) if accept else []
    reason = _reason(rename)
    for widening in widened:
        _note(widening, actor, reason)
    audit(
        "rename.accepted" if accept else "rename.dismissed",
        project=rename.project,
        target=_called(rename.new),
        before={"name": _called(rename.old)},
        after={"name": _called(rename.new), "widened": [_audit_values(widening) for widening in widened]},
    )
    return True


def renames_certain_settle(*, project_id: int) -> int:
    """Accept what needs nobody's decision: the same names, told apart otherwise by a newer reader. Returns how many."""
    certain = Rename.objects.filter(project_id=project_id, certain=True, state=Rename.State.SUGGESTED)
    return sum(
        rename_settle(rename=rename, accept=True, user_id=None, actor=READER)
        for rename in certain.select_related("project", "old", "new__alias_of").order_by("pk")
        if rename.old.alias_of_id is None and rename.old_id != rename.new.alias_of_id
    )


def _reason(rename: Rename) -> str:
    if rename.certain:
        return f"{_called(rename.new)} was known by another identity before the upgrade: it is the same test."
    return f"Accepted that {_called(rename.old)} is called {_called(rename.new)} now."


@dataclass(frozen=True, slots=True)
class Widening:
    """A quarantine that covers more tests than before."""

    quarantine: Quarantine
    before: Sequence[str]
    """The names of the one test of the two that it was about."""
    added: Sequence[str]
    """The names that it covers from now on."""


Names = dict[int, str]
"""Id -> how a test is called, of a test and of all that was joined with it before."""


def _names(test: Test) -> Names:
    return {row.pk: _called(row) for row in Test.objects.filter(Q(pk=test.pk) | Q(alias_of=test)).order_by("number")}


def _called(test: Test) -> str:
    return "::".join(part for part in (test.classname or test.suite, test.name) if part)


def _widened(old: Names, new: Names) -> list[Widening]:
    """Those that covered one of the two only, and hold or can hold again."""
    with_old, with_new = _quarantined(old), _quarantined(new)
    rows = Quarantine.objects.select_for_update(no_key=True).filter(pk__in=with_old ^ with_new).order_by("pk")
    covered = (list(old.values()), list(new.values()))
    return [
        Widening(row, *(covered if row.pk in with_old else reversed(covered)))
        for row in rows.exclude(state=State.REJECTED)
    ]


def _quarantined(tests: Collection[int]) -> set[int]:
    return set(Member.objects.filter(test__in=tests).values_list("quarantine_id", flat=True))


def _note(widening: Widening, actor: Actor, reason: str) -> None:
    """Record an event with a new version, so that anyone acting on an outdated page gets a conflict."""
    quarantine = widening.quarantine
    Quarantine.objects.filter(pk=quarantine.pk).update(version=F("version") + 1)
    QuarantineEvent.objects.create(
        quarantine=quarantine,
        actor=actor.name,
        actor_kind=actor.kind,
        action=Action.CHANGE,
        reason=reason,
        version=quarantine.version + 1,
        before={"tests": list(widening.before)},
        after={"tests": [*widening.before, *widening.added]},
    )


def _audit_values(widening: Widening) -> dict[str, Any]:
    return {"quarantine": widening.quarantine.pk, "tests": list(widening.before), "added": list(widening.added)}
