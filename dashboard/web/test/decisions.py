"""What people decided that touches a test: its quarantines, its renames, and incidents that it failed in."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import numpy as np
from django.contrib.auth.models import User
from django.db.models import Q

from analytics.history.executions import History
from analytics.models import IncidentDecision
from dashboard.quarantine.models import Member, QuarantineEvent
from dashboard.quarantine.owners.store import owner_book
from dashboard.quarantine.selectors import live_quarantine_of
from dashboard.web.quarantine.events import did
from dashboard.web.quarantine.rows import told
from ingest.models import Project, Rename, Test
from ingest.verdict import FAILING

_DECISION_WORDS = {
    IncidentDecision.Word.CONFIRMED: "said that a run in which it failed was an incident",
    IncidentDecision.Word.REJECTED: "said that a run in which it failed was not an incident",
}


@dataclass(frozen=True, slots=True)
class Decision:
    at: datetime
    who: str
    """Empty where that is no longer known."""
    what: str
    run: int | None = None
    other: Test | None = None
    quarantine: int | None = None
    reason: str = ""


def decisions(project: Project, history: History) -> list[Decision]:
    """What people decided about the test, newest first."""
    found = [*_quarantines(history.names), *_renames(project, history.names), *_incidents(project, history)]
    return sorted(found, key=lambda decision: decision.at, reverse=True)


def _who(user: User | None) -> str:
    return "" if user is None else user.get_username()


def _quarantines(names: Sequence[Test]) -> list[Decision]:
    """All that was done to quarantines that it is or was in, by whomever."""
    members = Member.objects.filter(test__in=[name.pk for name in names])
    events = QuarantineEvent.objects.filter(quarantine__in=members.values("quarantine")).order_by("at", "pk")
    return [
        Decision(event.at, event.actor, did(event), quarantine=event.quarantine_id, reason=event.reason)
        for event in events
    ]


def quarantine_panel(project: Project, test: Test) -> dict[str, Any]:
    """The quarantine that a test is in now, and who owns the test."""
    live = live_quarantine_of(test)
    return {
        "live": told([live])[live.pk] if live is not None else None,
        "ruled": owner_book(project).ruled(test.test_name),
    }


def _renames(project: Project, names: Sequence[Test]) -> list[Decision]:
    """Decisions on suggested renames from or to any of the names of the test."""
    now, name_ids = names[0], [name.pk for name in names]
    decided = Rename.objects.filter(
        Q(old__in=name_ids) | Q(new__in=name_ids), project=project, decided_at__isnull=False
    )
    return [
        Decision(
            rename.decided_at,
            _who(rename.decided_by),
            "said that it is the same test as" if rename.state == Rename.State.ACCEPTED else "said that it is not",
            other=rename.old if rename.new_id == now.pk else rename.new,
        )
        for rename in decided.select_related("old", "new", "decided_by")
        if rename.decided_at is not None
    ]


def _incidents(project: Project, history: History) -> list[Decision]:
    executions = history.executions
    bad = np.isin(executions.verdicts, list(FAILING)) | executions.retried
    failed = dict(zip(executions.report_id[bad].tolist(), executions.run_id[bad].tolist(), strict=True))
    incident_decisions = IncidentDecision.objects.filter(project=project).select_related("decided_by")
    return [
        Decision(
            decision.decided_at,
            _who(decision.decided_by),
            _DECISION_WORDS[IncidentDecision.Word(decision.word)],
            run=failed[decision.report_id],
        )
        for decision in incident_decisions
        if decision.report_id in failed
    ]
