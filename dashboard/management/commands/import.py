"""Load a history of reports from disk. Interrupted or repeated, it goes on where it was: nothing counts twice."""

import io
from collections import Counter
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from tqdm import tqdm

from analytics.refreshing import refresh_ask
from dashboard.ops import embedded
from dashboard.retention.import_messages import seen_sentences, told_sentences
from ingest.bundle import BundleWriter
from ingest.history import ReportFile, items, unpacked
from ingest.metadata import ORDER_EXECUTED, RunMetadata
from ingest.models import Project, Upload
from ingest.processing import upload_process, upload_take_over
from ingest.services import Body, project_create, upload_receive

_OUTCOMES = ("imported", "known before", "refused")


class Command(BaseCommand):
    help = "Load a history of reports from a folder or an archive; safe to run again."
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("source", help="a folder, or a zip, tar, tar.gz or tar.xz archive")
        parser.add_argument("--project", required=True, help="the project's slug")
        parser.add_argument("--create", action="store_true", help="make the project if there is none")
        parser.add_argument("--commit", default="", help="the commit of all reports, where no index says")
        parser.add_argument("--branch", default="", help="the branch of all reports, where no index says")
        parser.add_argument("--order", choices=[ORDER_EXECUTED], default="", help="the files' order is true")
        parser.add_argument(
            "--keep-age", action="store_true", help="retention counts from the reports' own dates, not from today"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        source = Path(options["source"])
        if not source.exists():
            raise CommandError(f"{source} does not exist.")
        common = RunMetadata(commit=options["commit"], branch=options["branch"], order=options["order"])
        with embedded.database():
            project = _project(options["project"], create=options["create"])
            self._load_all(project, source, common, keep_age=options["keep_age"])

    def _load_all(self, project: Project, source: Path, common: RunMetadata, *, keep_age: bool) -> None:
        with unpacked(source) as folder:
            found = items(folder, common)
            if not found:
                raise CommandError(f"{source} holds no report files.")
            self._tell(told_sentences(project, found, keep_age=keep_age))
            progress = tqdm(found, unit="report", disable=not self.stderr.isatty())
            counts = Counter(self._load(project, item, keep_age=keep_age) for item in progress)
        if counts["imported"]:
            refresh_ask(project_id=project.pk, delay=0)
        self._tell([", ".join(f"{counts[what]} {what}" for what in _OUTCOMES), *seen_sentences(project, found)])

    def _tell(self, sentences: list[str]) -> None:
        for sentence in sentences:
            self.stdout.write(sentence)

    def _load(self, project: Project, item: ReportFile, *, keep_age: bool) -> str:
        with io.BytesIO() as bundle, item.path.open("rb") as stream:
            writer = BundleWriter(bundle.write)
            size = writer.add(item.name, iter(lambda: stream.read(1024 * 1024), b""))
            body = Body(bundle, writer.digest(), size, 1)
            dates = {"stated_at": item.stated_at, "kept_from": item.stated_at if keep_age else None}
            upload, new = upload_receive(project=project, body=body, metadata=item.metadata, **dates)
        before = upload.state
        if not new and before in (*Upload.WAITING, Upload.State.FAILED):
            upload_take_over(upload=upload)
        upload_process(upload_id=upload.pk)
        upload.refresh_from_db()
        if upload.state == Upload.State.PROCESSED:
            return "known before" if before == Upload.State.PROCESSED else "imported"
        self.stderr.write(f"{item.name}: {(upload.error or {}).get('sentence', 'it is waiting; run this again')}")
        return "refused"


def _project(slug: str, *, create: bool) -> Project:
    project = Project.objects.filter(slug=slug).first()
    if project is None and create:
        return project_create(slug=slug, name=slug)
    if project is None:
        raise CommandError(f"There is no project {slug!r}. Add --create to make it.")
    return project
