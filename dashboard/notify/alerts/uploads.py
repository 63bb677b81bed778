"""Alerts about uploads, by the clock: those that went wrong, and that none came for long."""

from datetime import datetime, timedelta

from django.db import transaction
from django.utils import timezone

from dashboard.notify.alerts.queue import next_due
from dashboard.notify.models import AlertWatch, Channel
from dashboard.quarantine.models import Notification
from dashboard.quarantine.services import notify
from ingest.models import Project, Upload

Kind = Notification.Kind
_LOOKED_BACK = timedelta(days=1)
_BAD = (Upload.State.REJECTED, Upload.State.FAILED)


def upload_errors_alert(*, now: datetime | None = None) -> None:
    """Alert to uploads that could not be read or processed, each once. What forks send alerts nobody."""
    now = now or timezone.now()
    bad = Upload.objects.filter(
        state__in=_BAD, finished_at__gt=now - _LOOKED_BACK, untrusted=False, experiment=None, project__deleting_at=None
    )
    by_project: dict[int, list[int]] = {}
    for upload, project in bad.order_by("pk").values_list("pk", "project_id"):
        by_project.setdefault(project, []).append(upload)
    for project, uploads in by_project.items():
        _alert(project, uploads, now)


def _alert(project_id: int, uploads: list[int], now: datetime) -> None:
    keys = {f"{Kind.UPLOAD_ERROR}:{upload}": upload for upload in uploads}
    known = Notification.objects.filter(project_id=project_id, key__in=keys).values_list("key", flat=True)
    new = keys.keys() - set(known)
    if not new:
        return
    AlertWatch.objects.get_or_create(project_id=project_id)
    with transaction.atomic():
        AlertWatch.objects.select_for_update().get(project_id=project_id)
        due_at = next_due(project_id, Kind.UPLOAD_ERROR, now)
        rows = (
            Notification(
                project_id=project_id, kind=Kind.UPLOAD_ERROR, key=key, payload={"uploads": [keys[key]]}, due_at=due_at
            )
            for key in sorted(new, key=keys.__getitem__)
        )
        Notification.objects.bulk_create(rows, ignore_conflicts=True)


def silences_alert(*, now: datetime | None = None) -> None:
    """Alert channels whose project sent nothing for longer than they allow: once for each silence."""
    now = now or timezone.now()
    channels = Channel.objects.filter(enabled=True, silence_hours__isnull=False, project__deleting_at=None)
    newest: dict[int, Upload | None] = {}
    for channel in channels.select_related("project"):
        if channel.project_id not in newest:
            newest[channel.project_id] = _newest(channel.project)
        upload, hours = newest[channel.project_id], channel.silence_hours or 0
        if upload is not None and upload.received_at <= now - timedelta(hours=hours):
            notify(
                project_id=channel.project_id,
                kind=Kind.NO_UPLOADS,
                key=f"{Kind.NO_UPLOADS}:{channel.pk}:{upload.pk}",
                payload={"channel": channel.pk, "hours": hours, "last": upload.received_at.isoformat()},
            )


def _newest(project: Project) -> Upload | None:
    """The last upload of CI; None where there never was one, since then nothing has stopped."""
    return Upload.objects.filter(project=project, experiment=None).order_by("-id").only("received_at").first()
