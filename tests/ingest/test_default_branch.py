"""Which runs are of the default branch: Python, the ORM and SQL give the same answer."""

from itertools import product

import pytest
from django.db import connection
from django.utils import timezone

from ingest.default_branch import RUN_IS_DEFAULT, default_runs, is_default
from ingest.models import Project, Run

CASES = [
    ("", "", True),
    ("trunk", "", True),
    ("main", "", False),
    ("feature", "", False),
    ("", "7", False),
    ("trunk", "7", False),
    ("feature", "7", False),
]


@pytest.fixture
def runs(project: Project) -> dict[tuple[str, str], Run]:
    Project.objects.update(default_branch="trunk")
    project.refresh_from_db()
    now = timezone.now()
    return {
        (branch, request): Run.objects.create(
            project=project, key=bytes([number]), branch=branch, pull_request=request, started_at=now
        )
        for number, (branch, request, _) in enumerate(CASES)
    }


@pytest.mark.parametrize(("branch", "pull_request", "expected"), CASES)
def test_each_spelling_of_the_rule_says_the_same(
    branch: str, pull_request: str, expected: bool, project: Project, runs: dict[tuple[str, str], Run]
) -> None:
    run = runs[branch, pull_request]
    assert is_default(project, branch, pull_request) is expected
    assert Run.objects.filter(default_runs(project), pk=run.pk).exists() is expected
    assert Project.objects.filter(default_runs(project, "run__"), run=run).exists() is expected
    with connection.cursor() as cursor:
        sql = f"SELECT {RUN_IS_DEFAULT} FROM ingest_run AS run WHERE id = %(id)s"  # noqa: S608 - our own words
        cursor.execute(sql, {"default_branch": project.default_branch, "id": run.pk})
        assert cursor.fetchone() == (expected,)


def test_every_combination_is_a_case() -> None:
    told = {(branch, request) for branch, request, _ in CASES}
    assert told >= set(product(("", "trunk", "feature"), ("", "7")))
