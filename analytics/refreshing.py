"""When an analysis runs: soon after uploads, or when asked; one at a time for a project, whatever dies.

PostgreSQL is the queue of record, as for uploads: a row a project says what is due and who is at it."""

import logging
from contextlib import suppress
from dataclasses import replace
from datetime import timedelta
from functools import partial

from django.conf import settings
from django.db import InterfaceError, OperationalError
from django.db.models import F, OuterRef, Q, Subquery
from django.db.models.functions import Coalesce, Least, Now
from django.utils import timezone

from analytics.kernel.parameters import DEFAULTS
from analytics.models import Analysis, Refresh
from analytics.selectors import current_analyses
from analytics.services import analysis_refresh
from ingest.leases import FREE, Claim, ClaimLost, Lease
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
    "predictions",
    "storing",
)
_RETRY = timedelta(minutes=5)
"""After an error of ours."""
_REST = 0.25
"""After an analysis its project rests for this share of the time that it took: steady uploads keep a worker busy for
four fifths of the time at most, and conclusions are as fresh as the worker is quick."""
_REST_BEHIND = 30.0
"""Seconds that it rests for at least while uploads wait, as they come first: five projects with steady uploads would
keep a core busy with analyses alone."""
_BEHIND = timedelta(seconds=2)
"""Uploads that nobody has begun with for so long wait for a worker."""
_ALIKE = timedelta(milliseconds=50)
"""Two ends of one rest, computed by two uploads, differ by less."""
_TRIES = 3
"""A worker that is killed in the same analysis so often is not sent into it again until somebody asks."""
LEASE = Lease(
    model=Refresh,
    key="project_id",
    length=lambda: timedelta(seconds=settings.ANALYSIS_LEASE_SECONDS),
    most_tries=lambda: _TRIES,
)


def _due() -> Q:
    """Asked for, and the time has come, and nobody is at it; or its holder died."""
    return Q(claim=None, due_at__lte=Now()) | LEASE.abandoned()


def refresh_ask(*, project_id: int, delay: float | None = None) -> float | None:
    """Ask for an analysis, by default a moment from now. What is due earlier stays due: uploads cannot put it off.

    Returns in how many seconds a worker has to be woken for it; None where one will be already."""
    seconds = max(settings.ANALYSIS_DELAY_SECONDS, _rest(project_id)) if delay is None else delay
    wait, refresh = timedelta(seconds=seconds), Refresh.objects.filter(project_id=project_id)
    if refresh.filter(due_at__lte=Now() + wait + _ALIKE).exists():
        return None  # the one that takes it begins after this, and sees what there is now
    Refresh.objects.get_or_create(project_id=project_id)
    changed = refresh.filter(Q(due_at=None) | Q(due_at__gt=Now() + wait)).update(
        asked_at=Coalesce(F("asked_at"), Now()), due_at=Now() + wait
    )
    return seconds if changed else None


def _rest(project_id: int) -> float:
    """Seconds until the project has rested from its last analysis."""
    last = current_analyses().filter(project_id=project_id).values_list("finished_at", "seconds").first()
    if last is None:
        return 0.0
    finished_at, seconds = last
    is_behind = Upload.objects.filter(state=Upload.State.RECEIVED, received_at__lt=Now() - _BEHIND).exists()
    rest = max(_REST * seconds, _REST_BEHIND if is_behind else 0.0)
    return (finished_at + timedelta(seconds=rest) - timezone.now()).total_seconds()


def is_due(*, project_id: int) -> bool:
    """Whether it was asked for while another one ran, and nobody is at it."""
    return Refresh.objects.filter(_due(), project_id=project_id).exists()


def refreshes_due() -> list[int]:
    """Projects whose analysis is due and that nobody is at; also those whose holder died."""
    return list(Refresh.objects.filter(_due()).order_by("due_at").values_list("project_id", flat=True))


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
    LEASE.hopeless().update(**FREE, phase="", tries=0, error=sentence)


def refresh_claim(*, project_id: int) -> Claim[Refresh] | None:
    """Take what is due. Exactly one caller gets it; what is asked from now on is asked anew."""
    return LEASE.claim(project_id, _due(), began_at=Now(), phase=PHASES[0], share=0, asked_at=None, due_at=None)


def refresh_run(*, project_id: int) -> Analysis | None:
    """Run a project's analysis if nobody else does. An error is kept for people to see, and it is tried again later."""
    claim = refresh_claim(project_id=project_id)
    if claim is None:
        return None

    def progress(phase: str) -> None:
        claim.update(phase=phase, share=PHASES.index(phase) / len(PHASES))

    try:
        project = Project.objects.get(pk=project_id)
        parameters = replace(DEFAULTS, developer_minutes=settings.DEVELOPER_MINUTES)
        with claim.kept_alive():
            return analysis_refresh(
                project=project, parameters=parameters, progress=progress, finish=partial(_finish, claim)
            )
    except ClaimLost:
        logger.warning("project %s: another worker took the analysis over", project_id)
    except (OperationalError, InterfaceError):
        raise  # the database is away: the claim runs out by itself, and the sweep tries again
    except Exception as error:
        logger.exception("project %s: the analysis failed", project_id)
        _give_back(claim, error)
    return None


def _finish(claim: Claim[Refresh]) -> None:
    """In the transaction that stores the analysis: a claim that is lost keeps it from being stored."""
    claim.release(phase="", share=1, error="", tries=0)


def _give_back(claim: Claim[Refresh], error: Exception) -> None:
    retry = Now() + _RETRY
    sentence = f"The last analysis failed ({type(error).__name__}: {error}); it is tried again."[:500]
    with suppress(ClaimLost):
        claim.release(phase="", tries=0, due_at=Least(Coalesce(F("due_at"), retry), retry), error=sentence)
