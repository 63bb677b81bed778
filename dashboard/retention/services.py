"""What is too old goes: a few rows at a time, each in a short transaction, so that uploads never wait for it.

Whatever ends it, the next one goes on: what is still too old is found anew. Rows that somebody holds are left."""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.db import connection, transaction
from django.db.models import Q, QuerySet
from django.utils import timezone

from analytics.models import Analysis
from analytics.refreshing import refresh_ask
from dashboard.people.audit import audit
from dashboard.people.models import AuditEntry
from dashboard.retention.ages import Ages, Cutoffs, cutoffs
from dashboard.retention.models import DEFAULTS, Retention
from dashboard.retention.quotas import attachments_recount, storage_recount
from dashboard.retention.steps import STEPS, Step
from ingest.models import Project, Report, Upload

_CHUNK = 200
_EVERY = timedelta(days=1)
Enough = Callable[[], bool]
"""Whether the time that may be taken is over."""


def never() -> bool:
    return False


def after(seconds: float) -> Enough:
    deadline = time.monotonic() + seconds
    return lambda: time.monotonic() > deadline


def ages_of(project: Project) -> Ages:
    row = Retention.objects.filter(project=project).first()
    return row.ages if row is not None else DEFAULTS


@transaction.atomic
def retention_set(*, project: Project, ages: Mapping[str, int | None], redact: bool) -> None:
    """Set a project's retention ages and whether its texts are redacted, and log what changed."""
    row, _ = Retention.objects.select_for_update().get_or_create(project=project)
    old = {name: getattr(row, name) for name in ages} | {"redact": project.redact}
    new = {**ages, "redact": redact}
    changed = [name for name in new if new[name] != old[name]]
    if not changed:
        return
    Retention.objects.filter(pk=row.pk).update(**ages, retained_at=None)  # the next sweep goes by it, not tomorrow's
    Project.objects.filter(pk=project.pk).update(redact=redact)
    project.redact = redact
    before, new_values = ({name: values[name] for name in changed} for values in (old, new))
    audit("retention.set", project=project, target=project.slug, before=before, after=new_values)


def retention_plan(*, project: Project, now: datetime | None = None) -> dict[str, int]:
    """Step -> how many rows it would take today. Nothing is changed."""
    limits = cutoffs(ages_of(project), now or timezone.now())
    return {step.name: old.count() for step, old in _steps(project.pk, limits)}


def retention_run(*, project: Project, now: datetime | None = None, enough: Enough = never) -> dict[str, int] | None:
    """Let go what is too old: step -> how many rows. None where the time was over before the end."""
    moment = now or timezone.now()
    limits = cutoffs(ages_of(project), moment)
    done: dict[str, int] = {}
    analysed = _is_analysed(project, limits)
    for step, old in _steps(project.pk, limits):
        done[step.name] = sum(_dropped(step, old, enough))
        if enough():
            break
    if done.get("reports") and analysed:
        refresh_ask(project_id=project.pk)
    storage_recount(project.pk)
    attachments_recount(project.pk)
    if enough():
        return None
    Retention.objects.update_or_create(project=project, defaults={"retained_at": moment})
    return done


def _steps(project_id: int, limits: Cutoffs) -> Iterator[tuple[Step, "QuerySet[Any]"]]:
    for step in STEPS:
        old = step.old(project_id, limits)
        if old is not None:
            yield step, old


def _dropped(step: Step, old: "QuerySet[Any]", enough: Enough) -> Iterator[int]:
    """Chunk by chunk, how many went."""
    ids = list(old.order_by().values_list("pk", flat=True))
    for start in range(0, len(ids), _CHUNK):
        if enough():
            return
        yield _drop(step, old, ids[start : start + _CHUNK])


@transaction.atomic
def _drop(step: Step, old: "QuerySet[Any]", ids: Sequence[int]) -> int:
    """Those that are still too old and that nobody holds."""
    free = old.filter(pk__in=ids).order_by("pk").select_for_update(skip_locked=True)
    held = list(free.values_list("pk", flat=True))
    if held:
        step.drop(held)
    return len(held)


def _is_analysed(project: Project, limits: Cutoffs) -> bool:
    """Whether the current analysis rests on reports that are too old to be kept."""
    since = Analysis.objects.filter(project=project, current=True).values_list("since", flat=True).first()
    if since is None or limits.reports is None:
        return False
    return Report.objects.filter(project=project, kept_from__lt=limits.reports, placed_at__gte=since).exists()


def projects_due(*, now: datetime | None = None) -> "QuerySet[Project]":
    """Where it is a day since what was too old went; those that wait longest first."""
    last = (now or timezone.now()) - _EVERY
    due = Project.objects.filter(
        Q(retention=None) | Q(retention__retained_at=None) | Q(retention__retained_at__lt=last)
    )
    return due.order_by("retention__retained_at", "pk")


def retention_sweep(*, enough: Enough) -> None:
    for project in projects_due():
        retention_run(project=project, enough=enough)
        if enough():
            return


@transaction.atomic
def audit_forget() -> int:
    """Let entries of the audit log go that are past AUDIT_DAYS; how many. 0 days keep it for ever."""
    if not settings.AUDIT_DAYS:
        return 0
    with connection.cursor() as cursor:
        cursor.execute("SELECT set_config('flakeboard.audit_days', %s, true)", [str(settings.AUDIT_DAYS)])
    old = AuditEntry.objects.filter(at__lt=timezone.now() - timedelta(days=settings.AUDIT_DAYS))
    return old.filter(pk__in=list(old.values_list("pk", flat=True)[:1_000]))._raw_delete("default")


def kept_until(upload: Upload, ages: Ages) -> datetime | None:
    """When retention removes them; None for never, and for an upload that retention has nothing to remove of."""
    if ages.reports is None or upload.run_id is None:
        return None
    return (upload.kept_from or upload.received_at) + timedelta(days=ages.reports)
