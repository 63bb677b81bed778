"""Load a history of reports from disk. Interrupted or repeated, it goes on where it was: nothing counts twice."""

import io
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from tqdm import tqdm

from dashboard import embedded
from ingest.bundle import BundleWriter
from ingest.history import Item, items, unpacked
from ingest.metadata import ORDER_EXECUTED, RunMetadata
from ingest.models import Project, Upload
from ingest.processing import upload_process, upload_take_over
from ingest.services import Body, project_create, upload_receive


class Command(BaseCommand):
    help = "Load a history of reports from a folder or an archive; safe to run again."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("source", help="a folder, or a zip, tar, tar.gz or tar.xz archive")
        parser.add_argument("--project", required=True, help="the project's slug")
        parser.add_argument("--create", action="store_true", help="make the project if there is none")
        parser.add_argument("--commit", default="", help="the commit of all reports, where no index says")
        parser.add_argument("--branch", default="", help="the branch of all reports, where no index says")
        parser.add_argument("--order", choices=[ORDER_EXECUTED], default="", help="the files' order is true")

    def handle(self, *args: Any, **options: Any) -> None:
        source = Path(options["source"])
        if not source.exists():
            raise CommandError(f"{source} does not exist.")
        common = RunMetadata(commit=options["commit"], branch=options["branch"], order=options["order"])
        with embedded.database():
            self._load_all(_project(options["project"], create=options["create"]), source, common)

    def _load_all(self, project: Project, source: Path, common: RunMetadata) -> None:
        counts = {"imported": 0, "known before": 0, "refused": 0}
        with unpacked(source) as folder:
            found = items(folder, common)
            if not found:
                raise CommandError(f"{source} holds no report files.")
            for item in tqdm(found, unit="report", disable=not self.stderr.isatty()):
                counts[self._load(project, item)] += 1
        self.stdout.write(", ".join(f"{count} {what}" for what, count in counts.items()))

    def _load(self, project: Project, item: Item) -> str:
        with io.BytesIO() as bundle, item.path.open("rb") as stream:
            writer = BundleWriter(bundle.write)
            size = writer.add(item.name, iter(lambda: stream.read(1024 * 1024), b""))
            body = Body(bundle, writer.digest(), size, 1)
            upload, new = upload_receive(project=project, body=body, metadata=item.metadata)
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
