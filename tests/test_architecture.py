"""Imports go one way: dashboard -> analytics -> ingest; the pure rooms know neither Django nor what is above."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
ROOMS = ("ingest", "analytics", "dashboard")
PURE = {
    "ingest/junit": {"lxml", "ingest.junit", "ingest.verdict"},
    "analytics/kernel": {"numpy", "scipy", "analytics.kernel", "ingest.vectors", "ingest.verdict"},
    "analytics/simulation": {
        *("numpy", "analytics.kernel", "analytics.simulation"),
        *("ingest.signature", "ingest.vectors", "ingest.verdict"),
    },
    "dashboard/charts": {"dashboard.charts"},
}
"""Folder -> what its modules may import besides the standard library."""


def modules(folder: str) -> list[Path]:
    return sorted((ROOT / folder).rglob("*.py"))


def imports(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            yield node.module or ""


def room_of(name: str) -> str:
    return name.split(".")[0]


@pytest.mark.parametrize("room", ROOMS)
def test_no_room_imports_a_room_above_it(room: str) -> None:
    above = ROOMS[ROOMS.index(room) + 1 :]
    found = [(str(path), name) for path in modules(room) for name in imports(path) if room_of(name) in above]
    assert found == []


@pytest.mark.parametrize("folder", PURE)
def test_pure_rooms_import_nothing_but_what_they_may(folder: str) -> None:
    import sys

    def allowed(name: str) -> bool:
        known = any(name == may or name.startswith(may + ".") for may in PURE[folder])
        return known or room_of(name) in sys.stdlib_module_names

    assert [(str(path), name) for path in modules(folder) for name in imports(path) if not allowed(name)] == []


def test_the_check_sees_a_wrong_import(tmp_path: Path) -> None:
    wrong = tmp_path / "wrong.py"
    wrong.write_text("from django.db import models\nimport dashboard.web\n")
    assert list(imports(wrong)) == ["django.db", "dashboard.web"]


def test_migrations_are_complete(db: None) -> None:
    from django.core.management import call_command

    call_command("makemigrations", check=True, dry_run=True, verbosity=0)
