"""What quarantine masks changes what is told of costs: in the analysis, on pages and by the API."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta
from functools import partial

import pytest
from django.test import Client
from django.urls import reverse
from pytest_django import DjangoDbBlocker

from analytics.models import Analysis
from analytics.selectors import priorities_of
from analytics.services import analysis_refresh
from dashboard.quarantine.masks import quarantine_masks
from dashboard.quarantine.services import Actor, Terms, quarantine_act, quarantine_create
from dashboard.quarantine.states import Action, ActorKind
from ingest.models import Project, Test
from ingest.services import project_create
from tests.api_client import committed_once
from tests.conftest import send_files
from tests.web.history import BEGAN, sent

pytestmark = pytest.mark.django_db
_ANNA = Actor(ActorKind.PERSON, "anna")
_OFTEN, _SELDOM = range(0, 24, 2), range(1, 24, 6)
_FROM = 5
"""The hour from which the test that fails often is in quarantine: 9 of its 12 failures come after it."""


@dataclass(frozen=True)
class History:
    project: Project


def _make() -> History:
    project = project_create(slug="shop", name="Shop")
    send = partial(send_files, project)
    for hour in range(24):
        fails = {name: "no" for name, hours in (("often", _OFTEN), ("seldom", _SELDOM)) if hour in hours}
        passes = " ".join({"often", "seldom", "steady"} - set(fails))
        branch = "main" if hour < 20 else "release"
        sent(send, hour, fails, passes, commit=f"{hour // 4:04d}" + "c" * 36, branch=branch)
    return History(project)


@pytest.fixture(scope="module")
def committed_history(django_db_setup: None, django_db_blocker: DjangoDbBlocker) -> Iterator[History]:
    with committed_once(django_db_blocker, _make) as made:
        yield made


@pytest.fixture
def history(committed_history: History, db: None) -> Project:
    """24 runs at 6 commits: `often` fails in twelve of them, `seldom` in four others."""
    return Project.objects.get(pk=committed_history.project.pk)


def masked(project: Project, until: int | None = None, **terms: object) -> tuple[Analysis, dict[str, tuple[int, int]]]:
    """The analysis with a quarantine of `often`; of each test, runs that it blocked and runs that were masked."""
    tests = {test.number: test for test in Test.objects.filter(project=project)}
    mine = [test for test in tests.values() if test.name == "often"]
    one = quarantine_create(
        project=project,
        tests=mine,
        actor=_ANNA,
        terms=Terms(**terms),
        action=Action.QUARANTINE,
        now=BEGAN + timedelta(hours=_FROM),
    )
    if until is not None:
        ended = BEGAN + timedelta(hours=until)
        quarantine_act(quarantine=one, version=one.version, action=Action.RELEASE, actor=_ANNA, reason="", now=ended)
    analysis = analysis_refresh(project=project)
    items = priorities_of(analysis)
    return analysis, {tests[item["test"]].name: (item["blocked"], item["masked"]) for item in items}


def test_without_a_quarantine_the_test_that_fails_often_is_first(history: Project) -> None:
    assert not list(quarantine_masks(history))
    items = priorities_of(analysis_refresh(project=history))
    assert [(item["blocked"], item["masked"]) for item in items] == [(12, 0), (4, 0)]


def test_what_it_masked_blocks_no_more_and_no_longer_ranks(history: Project, admin_client: Client) -> None:
    analysis, told = masked(history)
    assert list(told.items()) == [("seldom", (4, 0)), ("often", (3, 9))], "ranked by what still blocks"
    blocked = analysis.summary["blocked"]
    assert (blocked["runs"], blocked["masked"], blocked["masked_failures"]) == (7, 9, 9)
    said = {"project": "Quarantine saved", "priorities": "Quarantine saved 9 more.", "quarantines": "saved 9 runs"}
    for page, words in said.items():
        assert words in admin_client.get(reverse(page, args=(history.slug,))).content.decode(), page
    assert "9 masked" in admin_client.get(reverse("priorities", args=(history.slug,))).content.decode()


def test_what_came_after_its_end_blocks_again(history: Project) -> None:
    assert masked(history, until=11)[1]["often"] == (9, 3)


def test_what_is_outside_its_scope_is_not_masked(history: Project) -> None:
    assert masked(history, branches=["main"])[1]["often"] == (5, 7)
