"""Truth: 14 projects whose one revision was run a hundred times, judged as a careful engineer judges them."""

import json
from pathlib import Path

import pytest
from django.contrib.auth.models import User

from tests.conftest import DATA, needs_data
from tests.people.signed_in import browser_of
from tests.truth.comparing import disagreements
from tests.truth.derive import TABLES
from tests.truth.histories import matrices, name_of
from tests.truth.loading import load_matrix
from tests.truth.product import Product


@needs_data
@pytest.mark.parametrize("path", matrices(DATA), ids=name_of)
def test_a_rerun_project_is_judged_as_its_table_says(path: Path, person: User) -> None:
    loaded = load_matrix(path)
    table = json.loads((TABLES / f"{name_of(path)}.json").read_text(encoding="utf-8"))
    found = disagreements(table, Product(loaded.project, browser_of(person)))
    assert not found, "\n".join(found)
