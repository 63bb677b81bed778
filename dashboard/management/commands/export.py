"""A whole project as a file that other programs read."""

from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from dashboard.ops import embedded
from dashboard.retention.export.archive import Archive, ExportRunning
from dashboard.retention.export.writers import FORMATS, NoParquet
from ingest.models import Project


class Command(BaseCommand):
    help = "Write everything of a project to a zip of JSON lines or Parquet."
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("project", help="the project's slug")
        parser.add_argument("file", type=Path, help="the zip to write")
        parser.add_argument("--format", choices=list(FORMATS), default="json")

    def handle(self, *args: Any, **options: Any) -> None:
        file: Path = options["file"]
        with embedded.database():
            project = Project.objects.filter(slug=options["project"]).first()
            if project is None:
                raise CommandError(f"There is no project {options['project']!r}.")
            try:
                with file.open("wb") as target:
                    target.writelines(Archive(project, options["format"]))
            except NoParquet as error:
                raise CommandError(str(error)) from error
            except ExportRunning as error:
                raise CommandError("Another export of this project is under way.") from error
        self.stdout.write(f"{file}: {file.stat().st_size:,} bytes.")
