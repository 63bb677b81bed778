"""Projects that are made once a process: a test that names one has it in place of an empty project."""

from dataclasses import dataclass

import pytest

from ingest.models import Project
from ingest.services import project_create


@dataclass(frozen=True)
class Lent:
    """What others use, too: what a test adds to it is rolled back."""

    project: Project


def project_or_lent(request: pytest.FixtureRequest, name: str) -> Project:
    """The project of the named fixture where the test has that, else an empty one."""
    if name not in request.fixturenames:
        request.getfixturevalue("db")
        return project_create(slug="shop", name="Shop")
    lent = request.getfixturevalue(name)  # another database, before the test's transaction begins
    request.getfixturevalue("db")
    return Project.objects.get(pk=lent.project.pk)
