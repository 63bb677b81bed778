"""docs/running.md lists every variable that the code reads, and no other."""

import re

import pytest

from tests.conftest import ROOT
from tests.deploy.files import settings_read

RUNNING = (ROOT / "docs" / "running.md").read_text()
LIMITS = (ROOT / "docs" / "limits-and-errors.md").read_text()
_ROW = re.compile(r"^\| (`[A-Z][A-Z_`, ]+`) \|", re.MULTILINE)


def listed() -> set[str]:
    return {name for row in _ROW.findall(RUNNING) for name in re.findall(r"[A-Z][A-Z_]+", row)}


@pytest.mark.parametrize("name", sorted(settings_read()))
def test_every_variable_is_in_the_table(name: str) -> None:
    where = LIMITS if name.startswith("LIMIT_") else RUNNING
    assert f"`{name}`" in where, f"{name} is read from the environment and docs do not tell of it"


def test_the_table_lists_nothing_that_is_not_read() -> None:
    assert listed() - settings_read() == set()
