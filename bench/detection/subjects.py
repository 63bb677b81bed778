"""Small real projects at pinned commits, with what is known of their order-dependent tests (IDoFT)."""

import json
import os
import subprocess
import sys
import tarfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.paths import DATA, ROOT

CLIENT = ROOT / "client"
_OURS = ("FLAKEBOARD", "PYTEST", "DJANGO", "CI")


@dataclass(frozen=True, slots=True)
class Truth:
    role: str
    partners: frozenset[str]
    """Single ones; empty where only groups do."""
    cleaners: frozenset[str] = frozenset()
    group: int = 1


_DECORATORS = "tests/test_decorators.py::TestDecorators::"
_ZANNA = Truth("victim", frozenset([_DECORATORS + "test_provider_decorated_needs_type_or_name"]))
_CONTAINER, _INJECT = "tests/test_container.py::", "tests/test_inject.py::"
_POLLUTERS = (
    "tests/test_configure.py::test_configure_after_clear",
    *(_CONTAINER + name for name in ("test_has_shared_state", "test_has_shared_state_with_instance", "test_set")),
    _CONTAINER + "test_get",
    *(_INJECT + name for name in ("test_inject_without_parameter", "test_inject_with_parameter")),
)
_RAISING = "invalid_raising_error_handler[+]"
SUBJECTS: dict[str, dict[str, Truth]] = {
    "six-c0be8815": {
        "test_six.py::test_lazy": Truth("victim", frozenset(["test_six.py::test_move_items[html_parser]"])),
    },
    "zanna-4c28b5ea": {
        _DECORATORS + "test_class_decorated": _ZANNA,
        _DECORATORS + "test_provider_decorated": _ZANNA,
    },
    "python-ansel-afb2b28d": {
        f"tests/test_incremental.py::test_decode_{_RAISING}": Truth(
            "brittle",
            frozenset(
                [
                    f"tests/test_incremental.py::test_encode_{_RAISING}",
                    f"tests/test_codec.py::test_encode_{_RAISING}",
                    f"tests/test_codec.py::test_decode_{_RAISING}",
                ]
            ),
        )
    },
    "pythondi-913e6a60": {
        "tests/test_configure.py::test_configure": Truth(
            "victim", frozenset(_POLLUTERS), frozenset([_CONTAINER + "test_clear"])
        )
    },
    "dotty_dict-ae87e3fb": {
        "tests/test_dotty_cache.py::TestDottyCache::test_getitem_cache": Truth("victim", frozenset(), group=2)
    },
}


def unpacked(name: str, folder: Path) -> Path:
    with tarfile.open(DATA / "subjects" / f"{name}.tar.gz") as archive:
        archive.extractall(folder, filter="data")
    return folder / name.rpartition("-")[0]


def environ() -> dict[str, str]:
    """Nothing of this project's settings, plugins or CI reaches the subjects."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(_OURS)}
    own = {"PYTHONPATH": str(CLIENT), "PYTHONDONTWRITEBYTECODE": "1", "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    return {**kept, **own}


def called(folder: Path, *options: str) -> tuple[str, float]:
    """What the command prints on a project, and its seconds. What always fails on this machine is left out."""
    command = [sys.executable, "-m", "flakeboard", "detect", "--no-upload", "--without-failing"]
    words = [*command, *options, "--", sys.executable, "-m", "pytest", "-p", "no:cacheprovider"]
    began = time.perf_counter()
    done = subprocess.run(words, cwd=folder, env=environ(), capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(done.stdout + done.stderr)
    return done.stdout, time.perf_counter() - began


def detected(folder: Path, *options: str) -> tuple[dict[str, Any], float]:
    """What it found, and its seconds."""
    out = folder / "detected.json"
    _, seconds = called(folder, *options, "--out", str(out))
    return json.loads(out.read_text()), seconds
