"""What every first start makes anew, made once for all processes of the tests: hashed static files, a migrated database.

A test of the first start itself takes an empty home."""

import fcntl
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest.mock import patch

from tests.paths import ROOT

SHARED = "FLAKEBOARD_TESTS"
"""The variable that names the folder shared by all processes of one run of the tests."""


def furnish(home: Path) -> None:
    """Give an empty home what its first start would make."""
    furnish_cluster(home)
    static = _shared() / "static"
    if static.exists():
        _copy(static, home / "static")


def furnish_where_shared(home: Path) -> None:
    """For a benchmark: only one that a test started has others to share with."""
    if SHARED in os.environ:
        furnish(home)


def furnish_cluster(home: Path) -> None:
    with _locked("cluster") as template:
        if not (template / "postgres").exists():
            _migrate(template)
    # Whose it is matters: PostgreSQL does not run as root.
    subprocess.run(["cp", "-a", str(template / "postgres"), str(home)], check=True)


def collect_static(root: Path) -> None:
    """Collect them into `root`, or take them from the process that did."""
    from dashboard.ops.static_files import collect

    with _locked("static") as shared:
        if (shared / ".fingerprint").exists():
            _copy(shared, root)
        collect()
        if not (shared / ".fingerprint").exists():
            _copy(root, shared)


@contextmanager
def static_files_looked_up_once() -> Iterator[None]:
    """Every test client makes the middleware anew, and WhiteNoise's would look at all static files each time."""
    from django.conf import settings
    from whitenoise import WhiteNoise

    look_up = WhiteNoise.update_files_dictionary
    known: dict[tuple[str, str, str], dict[str, Any]] = {}

    def look_up_once(self: WhiteNoise, root: str, prefix: str) -> None:
        key = (root, prefix, settings.STORAGES["staticfiles"]["BACKEND"])
        if key not in known:
            others = dict(self.files)
            look_up(self, root, prefix)
            known[key] = {url: file for url, file in self.files.items() if url not in others}
        self.files.update(known[key])

    with patch.object(WhiteNoise, "update_files_dictionary", look_up_once):
        yield


def _migrate(home: Path) -> None:
    inherited = {name: value for name, value in os.environ.items() if name not in ("DATABASE_URL", "BROKER_URL")}
    subprocess.run(
        [sys.executable, "manage.py", "upgrade"],
        cwd=ROOT,
        env={**inherited, "FLAKEBOARD_HOME": str(home), "DJANGO_SETTINGS_MODULE": "dashboard.settings"},
        stdout=subprocess.DEVNULL,
        check=True,
    )


def _copy(source: Path, target: Path) -> None:
    shutil.copytree(source, target, copy_function=_link, dirs_exist_ok=True)


def _link(source: str, target: str) -> None:
    """The same file where that can be: nobody writes to one, new ones take their place."""
    try:
        os.link(source, target)
    except OSError:  # another disk
        shutil.copy2(source, target)


def _shared() -> Path:
    return Path(os.environ[SHARED])


@contextmanager
def _locked(name: str) -> Iterator[Path]:
    """A folder that all processes share, and that one of them at a time fills."""
    folder = _shared() / name
    with Path(f"{folder}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        folder.mkdir(mode=0o755, exist_ok=True)
        yield folder
