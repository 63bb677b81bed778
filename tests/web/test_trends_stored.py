"""What an analysis stores of trends, in a history of six weeks."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from typing import Any

import pytest

from analytics.models import FlakySpell, TrendDay
from analytics.services import analysis_refresh
from ingest.models import Project
from ingest.services import project_create
from tests.api_client import committed_once
from tests.conftest import send_files
from tests.web.history import BEGAN, sent


@dataclass(frozen=True)
class History:
    project: Project


def make(days: int = 45) -> History:
    """A run each half day, two of a commit; `early` is flaky for three weeks, then clean."""
    project = project_create(slug="shop", name="Shop")
    for half in range(2 * days):
        bad = {"early": "no"} if half < 42 and half % 2 else {}
        good = "steady" if bad else "early steady"
        sent(partial(send_files, project), 12 * half, bad, good, commit=f"{half // 2:04d}" + "c" * 36)
    return History(project)


@pytest.fixture(scope="module")
def history(django_db_setup: None, django_db_blocker: Any) -> Iterator[History]:
    """Sent once: what a test stores of it is rolled back."""
    with committed_once(django_db_blocker, make) as made:
        yield made


@pytest.fixture
def project(history: History, db: None) -> Project:
    return Project.objects.get(pk=history.project.pk)


def test_a_test_that_stopped_flaking_is_fixed_and_a_second_analysis_writes_nothing_anew(project: Project) -> None:
    analysis_refresh(project=project)
    stored = [rows_stored(model, project) for model in (TrendDay, FlakySpell)]
    analysis_refresh(project=project)
    assert stored == [rows_stored(model, project) for model in (TrendDay, FlakySpell)]
    assert [len(rows) for rows in stored] == [45, 1]
    spell = FlakySpell.objects.get(project=project)
    assert spell.last.date() == (BEGAN + timedelta(hours=12 * 41)).date()
    assert spell.until is not None and spell.last < spell.until and not spell.seen, "it may have been flaky before"


def rows_stored(model: type[TrendDay] | type[FlakySpell], project: Project) -> set[int]:
    return set(model.objects.filter(project=project).values_list("pk", flat=True))


def test_days_before_the_window_stay_and_those_in_it_are_replaced(project: Project) -> None:
    before, inside = BEGAN.date() - timedelta(days=30), BEGAN.date() + timedelta(days=5)
    counts = {"runs": 7, "failed": 3, "flaky": 2, "seconds": 1.0, "rerun_seconds": 0.0}
    for day in (before, inside):
        TrendDay.objects.create(project=project, day=day, environment="gone", branch="~default", **counts)
    old = FlakySpell.objects.create(project=project, number=0, since=BEGAN - timedelta(days=40), last=BEGAN)
    analysis_refresh(project=project)
    assert TrendDay.objects.filter(environment="gone").values_list("day", flat=True).get() == before
    spells = FlakySpell.objects.filter(project=project)
    assert [spell.since for spell in spells if spell.number == old.number] == [old.since]
