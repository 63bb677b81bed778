"""Would the migrations of this code stop an installation that is in use?"""

import io
from pathlib import Path
from typing import Any

from django.apps import apps
from django.conf import settings
from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError
from django.db import connection
from django.db.migrations.loader import MigrationLoader

from dashboard.ops import embedded
from dashboard.ops.migration_safety import dangers, locked_together, statements_of

RELEASED = Path(settings.BASE_DIR) / "dashboard" / "released_migrations.txt"


def released() -> set[tuple[str, str]]:
    """App and migration of all that the last release ended with: what came before them has been run everywhere."""
    lines = RELEASED.read_text().splitlines()
    words = (line.split(".", 1) for line in lines if line and not line.startswith("#"))
    return {(app, name) for app, name in words}


def ours() -> set[str]:
    """The labels of our own apps."""
    return {
        config.label
        for config in apps.get_app_configs()
        if Path(settings.BASE_DIR) in Path(config.path).parents and "site-packages" not in config.path
    }


class Command(BaseCommand):
    help = "Check that migrations since the last release neither lock big tables nor break the release before."

    def handle(self, *args: Any, **options: Any) -> None:
        with embedded.database():
            found = [line for app, name in _new() for line in _judge(app, name)]
        if found:
            raise CommandError("\n".join(found))
        self.stdout.write("Every migration since the last release can be run while people work.")


def _new() -> list[tuple[str, str]]:
    """Our migrations that the last release did not have, in order; those of an app that it did not have make tables."""
    loader = MigrationLoader(connection)
    before = {key for leaf in released() if leaf in loader.graph.nodes for key in loader.graph.forwards_plan(leaf)}
    own = [key for key in loader.graph.nodes if key[0] in ours() and key not in before]
    return sorted(own)


def _judge(app: str, name: str) -> list[str]:
    sql = io.StringIO()
    call_command("sqlmigrate", app, name, stdout=sql, no_color=True)
    found = [*dangers(statements_of(sql.getvalue())), *locked_together(sql.getvalue())]
    return [f"{app}.{name}: {danger}" for danger in found]
