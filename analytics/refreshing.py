"""When an analysis runs: a while after uploads, or when asked; one at a time for a project, whatever dies.

PostgreSQL is the queue of record, as for uploads: a row a project says what is due and who is at it."""

import logging
import uuid
from dataclasses import replace
from datetime import timedelta
from typing import Any

from django.conf import settings
from django.db import InterfaceError, OperationalError
from django.db.models import F, OuterRef, Q, Subquery
from django.db.models.functions import Coalesce, Least, Now

from analytics.kernel.parameters import DEFAULTS
from analytics.models import Analysis, Refresh
from analytics.selectors import current_analyses
from analytics.services import analysis_refresh
from ingest.leases import kept_alive
from ingest.models import Project, Upload

logger = logging.getLogger(__name__)
PHASES = (
    "reading reports",
    "incidents",
    "states",
    "related failures",
    "orders",
    "durations and causes",
    "priority",
    "storing",
)
_RETRY_DELAYS = 5
"""After an error of ours, wait so many times the usual delay."""


_TRIES = 3
"""A worker that is killed in the same analysis so often is not sent into it again until somebody asks."""
_DUE = Q(claim=None, due_at__lte=Now()) | Q(claim__isnull=False, lease_until__lt=Now(), tries__lt=_TRIES)
"""Asked for, and the time has come, and nobody is at it; or its holder died."""


class RefreshLost(Exception):
    """Somebody else has taken over: this analysis is thrown away."""


def _lease() -> timedelta:
    return timedelta(seconds=settings.ANALYSIS_LEASE_SECONDS)


def refresh_ask(*, project_id: int, delay: float | None = None) -> None:
    """Ask for an analysis, by default a while from now. What is due earlier stays due: uploads cannot put it off."""
    wait = timedelta(seconds=settings.ANALYSIS_DELAY_SECONDS if delay is None else delay)
    mine = Refresh.objects.filter(project_id=project_id)
    if mine.filter(due_at__lte=Now() + wait).exists():
        return  # the one that takes it begins after this, and sees what there is now
    Refresh.objects.get_or_create(project_id=project_id)
    mine.update(
        asked_at=Coalesce(F("asked_at"), Now()), due_at=Least(Coalesce(F("due_at"), Now() + wait), Now() + wait)
    )


def refreshes_due() -> list[int]:
    """Projects whose analysis is due and that nobody is at; also those whose holder died."""
    return list(Refresh.objects.filter(_DUE).order_by("due_at").values_list("project_id", flat=True))


def refreshes_missed_ask() -> None:
    """Ask for what nobody asked for: the worker that processed the newest upload died before it could, or an update
    stores analyses in another form."""
    newest = Upload.objects.filter(project=OuterRef("pk")).order_by("-pk")
    current = current_analyses().filter(project=OuterRef("pk"))
    projects = Project.objects.filter(Q(refresh=None) | Q(refresh__due_at=None, refresh__claim=None)).annotate(
        finished=Subquery(newest.values("finished_at")[:1]),
        state=Subquery(newest.values("state")[:1]),
        analysed=Subquery(current.values("started_at")[:1]),
    )
    missed = projects.filter(state=Upload.State.PROCESSED).filter(Q(analysed=None) | Q(finished__gt=F("analysed")))
    for project_id in missed.values_list("pk", flat=True):
        refresh_ask(project_id=project_id)


def refreshes_hopeless_free() -> None:
    """Let go of analyses whose workers were killed time and again, and say so."""
    sentence = (
        f"The analysis was killed {_TRIES} times: it takes longer than TASK_SECONDS or more memory than there is. "
        "It runs again after the next upload, or when asked."
    )
    lost = Refresh.objects.filter(claim__isnull=False, lease_until__lt=Now(), tries__gte=_TRIES)
    lost.update(claim=None, lease_until=None, phase="", tries=0, error=sentence)


def refresh_claim(*, project_id: int) -> uuid.UUID | None:
    """Take what is due. Exactly one caller gets it; what is asked from now on is asked anew."""
    claim = uuid.uuid4()
    won = Refresh.objects.filter(_DUE, project_id=project_id).update(
        claim=claim,
        lease_until=Now() + _lease(),
        began_at=Now(),
        phase=PHASES[0],
        share=0,
        asked_at=None,
        due_at=None,
        tries=F("tries") + 1,
    )
    return claim if won else None


def refresh_run(*, project_id: int) -> Analysis | None:
    """Run a project's analysis if nobody else does. An error is kept for people to see, and it is tried again later."""
    claim = refresh_claim(project_id=project_id)
    if claim is None:
        return None
    held = _Held(project_id, claim)
    try:
        project = Project.objects.get(pk=project_id)
        parameters = replace(DEFAULTS, developer_minutes=settings.DEVELOPER_MINUTES)
        with kept_alive(f"analysis of project {project_id}", settings.ANALYSIS_LEASE_SECONDS, held.renew):
            return analysis_refresh(project=project, parameters=parameters, progress=held.progress, finish=held.finish)
    except RefreshLost:
        logger.warning("project %s: another worker took the analysis over", project_id)
    except (OperationalError, InterfaceError):
        raise  # the database is away: the claim runs out by itself, and the sweep tries again
    except Exception as error:
        logger.exception("project %s: the analysis failed", project_id)
        held.give_back(error)
    return None


class _Held:
    """A claimed refresh: what its holder may still do with it."""

    def __init__(self, project_id: int, claim: uuid.UUID) -> None:
        self._mine = Refresh.objects.filter(project_id=project_id, claim=claim)

    def renew(self) -> None:
        self._mine.update(lease_until=Now() + _lease())

    def progress(self, phase: str) -> None:
        """Tell how far it is."""
        self._update(phase=phase, share=PHASES.index(phase) / len(PHASES), lease_until=Now() + _lease())

    def finish(self) -> None:
        self._update(claim=None, lease_until=None, phase="", share=1, error="", tries=0)

    def give_back(self, error: Exception) -> None:
        retry = Now() + timedelta(seconds=_RETRY_DELAYS * settings.ANALYSIS_DELAY_SECONDS)
        sentence = f"The last analysis failed ({type(error).__name__}: {error}); it is tried again."[:500]
        self._mine.update(
            claim=None,
            lease_until=None,
            phase="",
            tries=0,
            due_at=Least(Coalesce(F("due_at"), retry), retry),
            error=sentence,
        )

    def _update(self, **changes: Any) -> None:
        if not self._mine.update(**changes):
            raise RefreshLost
