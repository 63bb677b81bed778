"""Furnished databases are made once, seen only while they are lent, and left as they were."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest
from django.db import connection

from ingest.models import Project
from ingest.services import project_create
from tests.at_once import at_once
from tests.furnished import FurnishedDatabases

pytestmark = pytest.mark.django_db(transaction=True)


@dataclass
class Made:
    project: Project


@pytest.fixture
def databases(transactional_db: None, django_db_blocker: Any) -> Iterator[FurnishedDatabases]:
    made = FurnishedDatabases(django_db_blocker)
    yield made
    made.drop_all()


def make() -> Made:
    return Made(project_create(slug="furnished", name="Furnished"))


def slugs() -> list[str]:
    return list(Project.objects.values_list("slug", flat=True))


def test_what_is_lent_is_made_once_and_seen_only_meanwhile(databases: FurnishedDatabases) -> None:
    calls = []
    own = connection.settings_dict["NAME"]
    for _ in range(2):
        with databases.lend("one", lambda: calls.append(1) or make()) as made:  # type: ignore[func-returns-value]
            assert (slugs(), at_once(slugs)) == (["furnished"], [["furnished"]])
            made.project.name = "changed by a test"
        assert (slugs(), connection.settings_dict["NAME"]) == ([], own)
    assert calls == [1]
    with databases.lend("one", make) as made:
        assert made.project.name == "Furnished"


def test_keys_of_two_databases_never_meet(databases: FurnishedDatabases) -> None:
    with databases.lend("one", make) as first:
        pass
    with databases.lend("two", make) as second:
        pass
    assert abs(first.project.pk - second.project.pk) > 1_000_000


def test_a_second_one_at_the_same_time_goes_into_the_first(databases: FurnishedDatabases) -> None:
    with databases.lend("one", make):
        with databases.lend("two", lambda: Made(project_create(slug="guest", name="Guest"))):
            assert sorted(slugs()) == ["furnished", "guest"]
        assert slugs() == ["furnished"]


def test_rows_that_were_committed_to_it_are_told(databases: FurnishedDatabases) -> None:
    with pytest.raises(AssertionError, match="Tests changed the database"), databases.lend("one", make):
        project_create(slug="left", name="Left")
    assert slugs() == []
