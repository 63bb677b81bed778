"""A project with something of everything, for the tests that ask what was concluded of it."""

from collections.abc import Iterator

import pytest

from ingest.models import Token
from ingest.services import project_create, token_create
from tests.api_client import Program, committed_once
from tests.dashboard.analysed import Analysed, make


@pytest.fixture(scope="module")
def committed(django_db_setup: None, django_db_blocker) -> Iterator[Analysed]:
    with committed_once(django_db_blocker, make) as made:
        yield made


@pytest.fixture
def shop(committed: Analysed, db: None, monkeypatch: pytest.MonkeyPatch) -> Analysed:
    monkeypatch.setattr("dashboard.tasks.refresh_analysis.delay", lambda project_id: None)
    return committed


@pytest.fixture
def empty(db: None) -> Program:
    project = project_create(slug="new", name="New")
    return Program(token_create(project=project, name="x", scope=Token.Scope.UPLOAD)[1], "new")
