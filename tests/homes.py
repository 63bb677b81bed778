"""What every first start makes anew, made once for all processes of the tests: hashed static files, a migrated database.

The database is kept for later runs, until a migration or a model changes.

A test of the first start itself takes an empty home."""

import fcntl
import hashlib
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest.mock import patch

from tests.paths import ROOT

SHARED = "FLAKEBOARD_TESTS"
"""The variable that names the folder shared by all processes of one run of the tests."""
_KEPT_SECONDS = 14 * 86_400


def furnish(home: Path) -> None:
    """Give an empty home what its first start would make."""
    furnish_cluster(home)
    furnish_static(home)


def furnish_static(home: Path) -> None:
    """Give it the hashed static files, where they have been made."""
    static = _shared() / "static"
    if static.exists():
        _copy(static, home / "static")


def furnish_where_shared(home: Path) -> None:
    """For a benchmark: only one that a test started has others to share with."""
    if SHARED in os.environ:
        furnish(home)


def furnish_cluster(home: Path) -> None:
    """Give it migrated tables: those that this or an earlier run of the tests has made of the same migrations."""
    kept = _kept() / _digest_of_migrations()
    with _locked("cluster") as folder, Path(f"{kept}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not kept.exists():
            _migrate(folder)
            half = kept.with_suffix(".half")
            shutil.rmtree(half, ignore_errors=True)
            half.mkdir()
            _copy_as_it_is(folder / "postgres", half)
            half.rename(kept)  # whoever is ended before that leaves nothing that looks whole
        os.utime(kept)
        _copy_as_it_is(kept / "postgres", home)


def _copy_as_it_is(source: Path, folder: Path) -> None:
    """Whose it is matters: PostgreSQL does not run as root."""
    subprocess.run(["cp", "-a", str(source), str(folder)], check=True)


def _kept() -> Path:
    """Where migrated tables outlive a run: with the packages, which `make clean` removes."""
    if sys.prefix == sys.base_prefix:
        return _shared()
    folder = Path(sys.prefix) / ".tests"
    folder.mkdir(exist_ok=True)
    for old in folder.glob("*/"):
        if old.stat().st_mtime < time.time() - _KEPT_SECONDS:
            shutil.rmtree(old, ignore_errors=True)
    return folder


def _digest_of_migrations() -> str:
    """Of all that decides what the tables are like: migrations, what they import, models, and the packages' versions."""
    files = {ROOT / "requirements.txt", ROOT / "dashboard" / "settings.py"}
    for room in ("ingest", "analytics", "dashboard"):
        files |= {*(ROOT / room).rglob("migrations/*.py"), *(ROOT / room).rglob("models.py")}
    texts = "".join(path.read_text() for path in files if path.parent.name == "migrations")
    modules = set(re.findall(r"^(?:from|import) ((?:ingest|analytics|dashboard)[\w.]*)", texts, re.MULTILINE))
    files |= {path for module in modules if (path := ROOT / f"{module.replace('.', '/')}.py").exists()}
    digest = hashlib.sha256(sys.version.encode())
    for path in sorted(files):
        digest.update(f"{path.relative_to(ROOT)}\n".encode() + path.read_bytes())
    return digest.hexdigest()[:16]


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
