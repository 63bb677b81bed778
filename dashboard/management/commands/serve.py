"""Run all of Flakeboard: database (embedded mode), web, workers and beat, under one supervisor."""

from typing import Any

from django.core.management.base import BaseCommand

from dashboard.ops.serve import serve


class Command(BaseCommand):
    help = "Run Flakeboard: database, web, workers and beat. Ctrl-C stops everything."
    requires_system_checks: list[str] = []

    def handle(self, *args: Any, **options: Any) -> None:
        serve()
