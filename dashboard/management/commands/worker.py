"""A pool of workers of server mode: Celery in the place of this process."""

import os
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandParser

from dashboard.ops import database_check, processes


class Command(BaseCommand):
    help = "Work for the queues that are named (server mode); without names, for all of them."
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("queues", nargs="*", choices=[*settings.QUEUES, []], metavar="queue")

    def handle(self, *args: Any, **options: Any) -> None:
        database_check.check(migrated=True)
        command = processes.worker(options["queues"] or list(settings.QUEUES))
        os.execv(command[0], command)  # noqa: S606 - our own command
