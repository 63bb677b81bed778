"""What is too old goes now, or what would go is told."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from dashboard.ops import embedded
from dashboard.retention.services import retention_plan, retention_run
from dashboard.retention.steps import STEPS
from ingest.models import Project


class Command(BaseCommand):
    help = "Let go what is older than each project keeps it; beat does the same once a day."
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--dry-run", action="store_true", help="only tell what would go")
        parser.add_argument("--project", default="", help="the slug of one project; all without it")

    def handle(self, *args: Any, **options: Any) -> None:
        with embedded.database():
            projects = Project.objects.order_by("slug")
            if options["project"]:
                projects = projects.filter(slug=options["project"])
                if not projects:
                    raise CommandError(f"There is no project {options['project']!r}.")
            for project in projects:
                counts = (retention_plan if options["dry_run"] else retention_run)(project=project)
                self._tell(project, counts or {}, dry=options["dry_run"])

    def _tell(self, project: Project, counts: dict[str, int], *, dry: bool) -> None:
        removals = [f"{counts[step.name]:,} {step.what}" for step in STEPS if counts.get(step.name)]
        would = "would be done today: " if dry else ""
        self.stdout.write(f"{project.slug}: {would}{'; '.join(removals) or 'nothing is too old'}")
