"""What people decided that touches a test: its renames, and incidents that it failed in."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

import numpy as np
from django.contrib.auth.models import User
from django.db.models import Q

from analytics.models import IncidentDecision
from dashboard.web.test_history import History
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


def decisions(project: Project, history: History) -> list[Decision]:
    """Newest first."""
    found = [*_renames(project, history.names), *_incidents(project, history)]
    return sorted(found, key=lambda one: one.at, reverse=True)


def _who(user: User | None) -> str:
    return "" if user is None else user.get_username()


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
