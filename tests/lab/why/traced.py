"""The project of which most tests of traces ask, sent once a process."""

from collections.abc import Iterator

import pytest

from ingest.models import Project
from ingest.services import project_create
from tests.furnished import FurnishedDatabases
from tests.lab.lent import Lent, project_or_lent
from tests.lab.why.uploads import send_runs


@pytest.fixture
def traced(furnished_databases: FurnishedDatabases) -> Iterator[Lent]:
    """Six failing runs and fourteen passing ones, each with its trace; nothing is analysed or compared yet."""
    with furnished_databases.lend("traced", _make) as made:
        yield made


def _make() -> Lent:
    project = project_create(slug="shop", name="Shop")
    send_runs(project)
    return Lent(project)


@pytest.fixture
def project(request: pytest.FixtureRequest) -> Project:
    return project_or_lent(request, "traced")
