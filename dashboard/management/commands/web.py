"""The web server of server mode: gunicorn in the place of this process."""

import os
from typing import Any

from django.core.management.base import BaseCommand

from dashboard.ops import database_check, processes, static_files


class Command(BaseCommand):
    help = "Serve pages and API (server mode). BIND, PORT, WEB_CONCURRENCY and WEB_THREADS say where and how many."
    requires_system_checks: list[str] = []

    def handle(self, *args: Any, **options: Any) -> None:
        database_check.check(connections=database_check.web_connections())
        static_files.collect()
        command = processes.web()
        os.execve(command[0], command, os.environ | processes.web_environment())  # noqa: S606 - our own command
