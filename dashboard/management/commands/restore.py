"""A backup back into the database."""

from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from dashboard.ops import database_check, embedded
from dashboard.ops.health import pending_migrations
from dashboard.retention.backup import BackupRefused, backup_restore


class Command(BaseCommand):
    help = "Put a backup back: all of it, or nothing is changed. Stop web, workers and beat before."
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("file", type=Path, help="what `backup` wrote")
        parser.add_argument("--replace", action="store_true", help="delete what the database holds now")

    def handle(self, *args: Any, **options: Any) -> None:
        with embedded.database():
            database_check.check()
            try:
                manifest = backup_restore(options["file"], replace=options["replace"])
            except BackupRefused as error:
                raise CommandError(str(error)) from error
            behind = pending_migrations()
        rows = sum(manifest.counts.values())
        self.stdout.write(f"{rows:,} rows of {len(manifest.counts)} tables are back, as of {manifest.made_at}.")
        if behind:
            self.stdout.write("They are of an older release: run manage.py upgrade before you start.")
