"""The whole database as one file, while people work."""

from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from dashboard.ops import database_check, embedded
from dashboard.retention.backup import BackupRefused, backup_write


class Command(BaseCommand):
    help = "Write the whole database to a file, as it is at one moment; uploads and people are not stopped."
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "file", type=Path, help="where to write it; an older file of this name is replaced at the end"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        file: Path = options["file"]
        with embedded.database():
            database_check.check(migrated=True)
            try:
                manifest = backup_write(file)
            except (BackupRefused, OSError) as error:
                raise CommandError(str(error)) from error
        rows = sum(manifest.counts.values())
        self.stdout.write(f"{file}: {rows:,} rows of {len(manifest.counts)} tables, {file.stat().st_size:,} bytes.")
