"""The clock of server mode, which asks for sweeps: Celery's beat in the place of this process."""

from typing import Any

from django.core.management.base import BaseCommand

from dashboard.ops.processes import become_beat


class Command(BaseCommand):
    help = "Ask for sweeps and other regular work (server mode). Run one of it; a second one does no harm."
    requires_system_checks: list[str] = []

    def handle(self, *args: Any, **options: Any) -> None:
        become_beat()
