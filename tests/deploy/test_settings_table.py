"""docs/running.md lists every variable that the code reads, and no other."""

import re

from tests.conftest import ROOT
from tests.deploy.files import settings_read

RUNNING = (ROOT / "docs" / "running.md").read_text()
LIMITS = (ROOT / "docs" / "limits-and-errors.md").read_text()
_ROW = re.compile(r"^\| (`[A-Z][A-Z_`, ]+`) \|", re.MULTILINE)


def listed() -> set[str]:
    return {name for row in _ROW.findall(RUNNING) for name in re.findall(r"[A-Z][A-Z_]+", row)}


def test_every_variable_is_in_the_table() -> None:
    names = settings_read()
    untold = {name for name in names if f"`{name}`" not in (LIMITS if name.startswith("LIMIT_") else RUNNING)}
    assert untold == set(), "read from the environment, and docs do not tell of them"
    assert len(names) > 60


def test_the_table_lists_nothing_that_is_not_read() -> None:
    assert listed() - settings_read() == set()
