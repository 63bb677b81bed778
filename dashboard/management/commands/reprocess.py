"""Read again what is kept of uploads, and store anew what the reader makes of it now."""

from collections import Counter
from datetime import UTC, datetime
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db.models import Exists, OuterRef, QuerySet
from django.utils.dateparse import parse_date, parse_datetime
from tqdm import tqdm

from analytics.refreshing import refresh_ask
from dashboard.ops import embedded
from ingest.models import Project, Upload, UploadChunk
from ingest.processing import upload_process
from ingest.services import upload_reprocess

_OUTCOMES = ("processed", "rejected", "failed", "left to a worker")


class Command(BaseCommand):
    help = (
        "Rebuild reports from the bytes that CI sent, which are kept for 30 days unless a project says otherwise. "
        "Each upload's new reports take the place of its old ones in one transaction; safe to run again, and while "
        "uploads come in."
    )
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--project", default="", help="the slug of one project; all without it")
        parser.add_argument("--since", default="", help="uploads received from then on: 2026-01-31, or with a time")
        parser.add_argument("--upload", type=int, help="the id of one upload; one that retention emptied comes back")
        parser.add_argument("--failed", action="store_true", help="only uploads that could not be processed")

    def handle(self, *args: Any, **options: Any) -> None:
        with embedded.database():
            uploads = _chosen(options)
            ids = list(uploads.order_by("pk").values_list("pk", flat=True))
            if options["upload"] is not None and not ids:
                raise CommandError(f"There is no upload {options['upload']} that is done and whose bytes are kept.")
            counts = Counter(map(_again, tqdm(ids, unit="upload", disable=not self.stderr.isatty())))
            for project_id in Upload.objects.filter(pk__in=ids).values_list("project_id", flat=True).distinct():
                refresh_ask(project_id=project_id, delay=0)
        self.stdout.write(", ".join(f"{counts[what]} {what}" for what in _OUTCOMES))


def _chosen(options: dict[str, Any]) -> "QuerySet[Upload]":
    """Uploads that are done and whose bytes are kept; what retention removed stays removed unless it is named."""
    uploads = Upload.objects.filter(
        Exists(UploadChunk.objects.filter(upload=OuterRef("pk"))), project__deleting_at=None
    )
    uploads = uploads.exclude(state__in=Upload.WAITING)
    if options["project"]:
        if not Project.objects.filter(slug=options["project"]).exists():
            raise CommandError(f"There is no project {options['project']!r}.")
        uploads = uploads.filter(project__slug=options["project"])
    if options["since"]:
        uploads = uploads.filter(received_at__gte=_moment(options["since"]))
    if options["failed"]:
        uploads = uploads.filter(state=Upload.State.FAILED)
    if options["upload"] is not None:
        return uploads.filter(pk=options["upload"])
    return uploads.filter(removed_at=None)


def _moment(written: str) -> datetime:
    """A date or a moment; without a zone, UTC."""
    try:
        moment, day = parse_datetime(written), parse_date(written)
    except ValueError:
        moment = day = None
    if moment is None and day is None:
        raise CommandError(f"--since {written!r} is not a date. Write it as 2026-01-31 or 2026-01-31T12:00:00Z.")
    if moment is None:
        assert day is not None
        moment = datetime(day.year, day.month, day.day)
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def _again(upload_id: int) -> str:
    """What became of it. Somebody who claims it first finishes it as well as we would."""
    upload = Upload.objects.get(pk=upload_id)
    if upload_reprocess(upload=upload):
        upload_process(upload_id=upload_id)
    upload.refresh_from_db()
    return "left to a worker" if upload.state in Upload.WAITING else upload.state
