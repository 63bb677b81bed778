"""A temporary home, PostgreSQL and Django for a benchmark."""

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def at_home() -> Iterator[Path]:
    """Import anything that needs Django only inside this context: its settings are read once, here."""
    home = Path(tempfile.mkdtemp(prefix="flakeboard-bench-"))
    os.environ |= {"FLAKEBOARD_HOME": str(home), "DJANGO_SETTINGS_MODULE": "dashboard.settings", "LOG_LEVEL": "WARNING"}
    os.environ.pop("DATABASE_URL", None)
    import django

    django.setup()
    from django.core.management import call_command

    from dashboard.ops.embedded import Cluster
    from tests.homes import furnish_where_shared

    furnish_where_shared(home)
    cluster = Cluster(home)
    cluster.start()
    try:
        call_command("migrate", verbosity=0)
        yield home
    finally:
        cluster.stop()
        shutil.rmtree(home, ignore_errors=True)
