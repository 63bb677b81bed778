"""Load the demo project from the command line."""

from typing import Any

from django.core.management.base import BaseCommand

from analytics.refreshing import refresh_run
from dashboard.demo.decisions import demo_decide
from dashboard.demo.services import demo_create, demo_load
from dashboard.ops import embedded
from dashboard.quarantine.policy.service import policy_apply


class Command(BaseCommand):
    help = "Load the demo: a simulated project that shows every page. Safe to run again."
    requires_system_checks: list[str] = []

    def handle(self, *args: Any, **options: Any) -> None:
        with embedded.database():
            project = demo_create()
            demo_load(project_id=project.pk)
            refresh_run(project_id=project.pk)
            if demo_decide(project_id=project.pk):
                refresh_run(project_id=project.pk)
            policy_apply(project_id=project.pk)
            self.stdout.write(f"The demo is loaded as project {project.slug!r}.")
