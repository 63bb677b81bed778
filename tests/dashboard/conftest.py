"""A project with something of everything, for the tests that ask what was concluded of it."""

import copy
from collections.abc import Iterator

import pytest

from ingest.models import Token
from ingest.services import project_create, token_create
from tests.api_client import Program
from tests.dashboard.analysed import Analysed, make
from tests.furnished import FurnishedDatabases


@pytest.fixture(scope="module")
def committed(furnished_databases: FurnishedDatabases) -> Iterator[Analysed]:
    with furnished_databases.lend("shop", make) as made:
        yield made


@pytest.fixture
def shop(committed: Analysed, db: None, monkeypatch: pytest.MonkeyPatch) -> Analysed:
    monkeypatch.setattr("dashboard.tasks.refresh_analysis.delay", lambda project_id: None)
    return copy.deepcopy(committed)


@pytest.fixture
def empty(db: None) -> Program:
    project = project_create(slug="new", name="New")
    return Program(token_create(project=project, name="x", scope=Token.Scope.UPLOAD)[1], "new")
