"""Make a token for a project from the command line."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from dashboard.ops import embedded, start_message
from ingest.models import Project, Token
from ingest.services import project_create, token_create


class Command(BaseCommand):
    help = "Make a token for a project and print it, this once."
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("project", help="the project's slug")
        parser.add_argument("--scope", choices=Token.Scope.values, default=Token.Scope.UPLOAD)
        parser.add_argument("--name", default="from the command line")
        parser.add_argument("--create", action="store_true", help="make the project if there is none")

    def handle(self, *args: Any, **options: Any) -> None:
        with embedded.database():
            project = Project.objects.filter(slug=options["project"]).first()
            if project is None:
                if not options["create"]:
                    raise CommandError(f"There is no project {options['project']!r}. Add --create to make it.")
                project = project_create(slug=options["project"], name=options["project"])
            _, text = token_create(project=project, name=options["name"], scope=options["scope"])
            self.stdout.write(text)
            if options["scope"] == Token.Scope.UPLOAD:
                self.stderr.write(f"\nSend results:\n\n  {start_message.curl_line(project.slug, text)}\n")
