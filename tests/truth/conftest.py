"""Real histories, each loaded and analysed once for all tests here."""

import copy
from collections.abc import Iterator

import pytest
from django.contrib.auth.models import User

from tests.conftest import DATA
from tests.furnished import FurnishedDatabases
from tests.people.signed_in import browser_of
from tests.truth.loading import ARCHIVES, Loaded, load_archive
from tests.truth.product import Product
from tests.web.conftest import _plain_static_files, person

__all__ = ["_plain_static_files", "person"]


@pytest.fixture(scope="module", params=ARCHIVES)
def committed_history(request: pytest.FixtureRequest, furnished_databases: FurnishedDatabases) -> Iterator[Loaded]:
    with furnished_databases.lend(request.param, lambda: load_archive(request.param, DATA)) as loaded:
        yield loaded


@pytest.fixture
def history(committed_history: Loaded, db: None) -> Loaded:
    """What a test does to it is rolled back."""
    return copy.deepcopy(committed_history)


@pytest.fixture
def product(committed_history: Loaded, person: User) -> Product:
    """A real history, and somebody who reads what is said of it."""
    return Product(committed_history.project, browser_of(person))
