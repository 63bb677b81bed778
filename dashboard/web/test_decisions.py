"""What people decided that touches a test: its quarantines, its renames, and incidents that it failed in."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import numpy as np
from django.contrib.auth.models import User
from django.db.models import Q

from analytics.models import IncidentDecision
from dashboard.quarantine.models import Member, QuarantineEvent
from dashboard.quarantine.owning import owner_book
from dashboard.quarantine.selectors import live_quarantine_of
from dashboard.web.quarantine_events import did
from dashboard.web.quarantine_rows import told
from dashboard.web.test_history import History
from ingest.identity import TestName
from ingest.models import Project, Rename, Test
from ingest.verdict import FAILING

_SAID = {
    IncidentDecision.Word.CONFIRMED: "said that a run in which it failed was an incident",
    IncidentDecision.Word.REJECTED: "said that a run in which it failed was no incident",
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
    """Newest first."""
    found = [*_quarantines(history.names), *_renames(project, history.names), *_incidents(project, history)]
    return sorted(found, key=lambda one: one.at, reverse=True)


def _who(user: User | None) -> str:
    return "" if user is None else user.get_username()


def _quarantines(names: Sequence[Test]) -> list[Decision]:
    """All that was done to quarantines that it is or was in, by whomever."""
    members = Member.objects.filter(test__in=[one.pk for one in names])
    events = QuarantineEvent.objects.filter(quarantine__in=members.values("quarantine")).order_by("at", "pk")
    return [Decision(one.at, one.actor, did(one), quarantine=one.quarantine_id, reason=one.reason) for one in events]


def quarantine_panel(project: Project, test: Test) -> dict[str, Any]:
    """The quarantine that a test is in now, and who owns the test."""
    live = live_quarantine_of(test)
    named = TestName(test.number, test.suite, test.classname, test.name, test.file)
    return {
        "live": told([live])[live.pk] if live is not None else None,
        "ruled": owner_book(project).ruled(named),
    }


def _renames(project: Project, names: Sequence[Test]) -> list[Decision]:
    """Decided suggestions that name the test by any of its names."""
    now, mine = names[0], [one.pk for one in names]
    decided = Rename.objects.filter(Q(old__in=mine) | Q(new__in=mine), project=project, decided_at__isnull=False)
    return [
        Decision(
            one.decided_at,
            _who(one.decided_by),
            "said that it is the same test as" if one.state == Rename.State.ACCEPTED else "said that it is not",
            other=one.old if one.new_id == now.pk else one.new,
        )
        for one in decided.select_related("old", "new", "decided_by")
        if one.decided_at is not None
    ]


def _incidents(project: Project, history: History) -> list[Decision]:
    told = history.executions
    bad = np.isin(told.verdicts, list(FAILING)) | told.retried
    failed = dict(zip(told.report_id[bad].tolist(), told.run_id[bad].tolist(), strict=True))
    said = IncidentDecision.objects.filter(project=project).select_related("decided_by")
    return [
        Decision(
            one.decided_at, _who(one.decided_by), _SAID[IncidentDecision.Word(one.word)], run=failed[one.report_id]
        )
        for one in said
        if one.report_id in failed
    ]
