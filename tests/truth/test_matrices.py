"""Truth: 14 projects whose one revision was run a hundred times, judged as a careful engineer judges them."""

import json
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User

from tests.conftest import DATA, needs_data
from tests.extent import slice_of
from tests.people.signed_in import browser_of
from tests.truth.comparing import disagreements
from tests.truth.derive import TABLES
from tests.truth.histories import matrices, name_of
from tests.truth.loading import load_matrix
from tests.truth.product import Product


def table_of(path: Path) -> dict[str, Any]:
    table: dict[str, Any] = json.loads((TABLES / f"{name_of(path)}.json").read_text(encoding="utf-8"))
    return table


def some_of_each_kind() -> list[Path]:
    """The smallest of each: by the states of tests that ever failed, and by whether some were skipped in every run."""
    kinds: dict[str, list[Path]] = {}
    for path in sorted(matrices(DATA), key=lambda path: int(table_of(path)["tests"])):
        table = table_of(path)
        states = sorted({tuple(row["state"]) for row in table["ever_failed"]})
        kinds.setdefault(f"{states} {table['unexecuted'] > 0}", []).append(path)
    return [path for paths in kinds.values() for path in slice_of(paths, 1)]


@needs_data
@pytest.mark.parametrize("path", slice_of(some_of_each_kind(), 3), ids=name_of)
def test_a_rerun_project_is_judged_as_its_table_says(path: Path, person: User) -> None:
    loaded = load_matrix(path)
    found = disagreements(table_of(path), Product(loaded.project, browser_of(person)))
    assert not found, "\n".join(found)
