"""A new one-time sign-in link, for who lost the password."""

from typing import Any

from django.contrib.auth.models import User
from django.core.management.base import BaseCommand, CommandError, CommandParser

from dashboard.ops import embedded, start_message


class Command(BaseCommand):
    help = "Print a link that signs a person in once."
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("username", nargs="?", default=start_message.FIRST_USER)

    def handle(self, *args: Any, **options: Any) -> None:
        with embedded.database():
            user = User.objects.filter(username=options["username"], is_active=True).first()
            if user is None:
                raise CommandError(f"There is no active user {options['username']!r}.")
            self.stdout.write(start_message.sign_in_address(user))
