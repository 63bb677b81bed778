"""Bring the tables up to date while an older release goes on serving from them."""

import time
from typing import Any

from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandParser
from django.db import OperationalError, connection
from psycopg2.errors import DeadlockDetected, LockNotAvailable

from dashboard.ops import database_check, embedded
from dashboard.ops.environment import BadSetting

_LOCK = 7_310_542
"""The number of the advisory lock that makes two upgrades one after the other."""
_PAUSE = 2.0


class Command(BaseCommand):
    help = "Apply migrations without stopping anybody: no lock is waited for longer than two seconds, then tried again."
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--lock-seconds", type=int, default=2, help="how long a migration may wait for a lock")
        parser.add_argument("--tries", type=int, default=60, help="how often it is tried where the lock is taken")

    def handle(self, *args: Any, **options: Any) -> None:
        with embedded.database():
            database_check.check()
            with connection.cursor() as cursor:
                cursor.execute("SELECT pg_advisory_lock(%s)", [_LOCK])
                cursor.execute(f"SET lock_timeout = '{options['lock_seconds']}s'")
            self._upgrade(options["tries"])
        self.stdout.write("The tables are up to date.")

    def _upgrade(self, tries: int) -> None:
        if not any(self._migrate(left) for left in reversed(range(tries))):
            raise BadSetting(
                "The tables are in use: a migration never got its lock. Try again when there is less load."
            )

    def _migrate(self, left: int) -> bool:
        """Whether it is done. What was applied before a lock was missed, or lost to a writer, stays applied."""
        try:
            call_command("migrate", verbosity=0, interactive=False)
        except OperationalError as error:
            if not isinstance(error.__cause__, (LockNotAvailable, DeadlockDetected)):
                raise
            self.stderr.write(f"flakeboard: a table is in use; {left} tries left")
            time.sleep(_PAUSE if left else 0)
            return False
        return True
