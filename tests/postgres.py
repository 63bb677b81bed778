"""A real PostgreSQL for the tests, loaded by pytest before Django reads its settings.

With DATABASE_URL set the tests use that server instead; it must be version 15 or newer."""

import atexit
import compileall
import os
import shutil
import signal
import sys
import tempfile
from pathlib import Path

import pytest

from tests.homes import SHARED, furnish_cluster
from tests.paths import ROOT

HOME = Path(tempfile.mkdtemp(prefix="flakeboard-tests-"))
atexit.register(shutil.rmtree, HOME, ignore_errors=True)
os.environ["FLAKEBOARD_HOME"] = str(HOME)
os.environ.setdefault(SHARED, str(HOME / "shared"))  # the process that hands tests out has set it for all others
Path(os.environ[SHARED]).mkdir(exist_ok=True)
os.environ.setdefault("LOG_LEVEL", "WARNING")
# Tests start many processes of ours: what one of them compiled, the next need not compile again.
sys.dont_write_bytecode = False
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)


def pytest_configure(config: pytest.Config) -> None:
    """Each process that runs tests has a server of its own; the one that only hands tests out needs none."""
    hands_out = config.getoption("numprocesses", None) and not hasattr(config, "workerinput")
    if not hasattr(config, "workerinput"):
        # Clients that tests start write no bytecode, lest a project that a test changes has old one: they find it made.
        compileall.compile_dir(ROOT / "client" / "flakeboard", quiet=2)
    if not hands_out and not os.environ.get("DATABASE_URL"):
        _start()


def _start() -> None:
    from dashboard.ops.embedded import Cluster

    furnish_cluster(HOME)
    cluster = Cluster(HOME, options=("-c", "fsync=off", "-c", "full_page_writes=off", "-c", "synchronous_commit=off"))
    cluster.start()
    atexit.register(cluster.stop)
    # Whoever ends the tests early, as `timeout` does, leaves no server behind.
    signal.signal(signal.SIGTERM, lambda *_: pytest.exit("terminated", 128 + signal.SIGTERM))
