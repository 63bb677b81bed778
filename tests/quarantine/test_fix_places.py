"""Where fixes are: by what changed from the last failure to the first run after the fix, kept as soon as it is known."""

import json

import pytest
from django.test import Client

from analytics.reach.ranges import RangeChange
from dashboard import tasks
from dashboard.quarantine.fix_places import fixes_locate, place_of, place_shares
from dashboard.quarantine.lifecycle import lifecycle_of
from dashboard.quarantine.models import FixPlace, Quarantine
from dashboard.quarantine.services import quarantine_act
from dashboard.quarantine.states import Action
from ingest.models import Project, RunChange
from tests.api_client import Program
from tests.dashboard.openapi import Schema
from tests.notify.conftest import browser
from tests.quarantine.conftest import ANNA, report

__all__ = ["browser"]
OLD, NEW = "a" * 40, "b" * 40
CODE, TEST, BUILD = "shop/cart.py", "tests/test_cart.py", "pyproject.toml"


def act(quarantine: Quarantine, action: Action) -> None:
    seen = Quarantine.objects.get(pk=quarantine.pk)
    quarantine_act(quarantine=seen, version=seen.version, action=action, actor=ANNA)


def change(base: str, *paths: str) -> tuple[str, bytes]:
    files = [{"path": path, "status": "M"} for path in paths]
    return "flakeboard-changes.json", json.dumps({"flakeboard_changes": 1, "base": base, "files": files}).encode()


@pytest.fixture
def fixed(project: Project, send, quarantined) -> Quarantine:
    """test_03 failed at the old commit, also in a pull request, and was fixed after that."""
    send(report(test_03="fail"), build_id="1", branch="main", commit=OLD)
    send(report(test_03="fail"), build_id="2", branch="try", pull_request="8", commit="c" * 40)
    quarantine = quarantined("test_03", needed=3)
    act(quarantine, Action.FIX)
    return quarantine


@pytest.mark.parametrize(
    ("sure", "possible", "place"),
    [
        ([CODE], [CODE, "README.md"], "code only"),
        ([TEST, BUILD], [TEST, BUILD], "tests only"),
        ([CODE, TEST], [CODE, TEST], "both"),
        ([BUILD], [BUILD], "other"),
        ([TEST], [TEST, CODE], None),
        ([], [TEST], None),
        ([], [], None),
    ],
)
def test_a_place_is_told_where_all_that_may_have_changed_says_the_same(
    sure: list[str], possible: list[str], place: str | None
) -> None:
    assert place_of(RangeChange(frozenset(sure), frozenset(possible), frozenset({1}))) == place


def test_published_places_are_shares_of_the_known_ones() -> None:
    """Lam 2021: 1, 71, 11 and 17 % of fixes."""
    found = place_shares(["code only"] * 1 + ["tests only"] * 71 + ["both"] * 11 + ["other"] * 17 + [None] * 40)
    assert [round(100 * found.shares[place].share) for place in FixPlace.Place] == [1, 71, 11, 17]
    assert {share.whole for share in found.shares.values()} == {100} and found.unknown == 40
    assert not place_shares([None]).shares[FixPlace.Place.CODE].is_known


def test_it_is_noted_once_the_change_after_the_fix_is_there_and_stays(
    fixed: Quarantine, project: Project, send
) -> None:
    assert fixes_locate(project_id=project.pk) == 0, "nothing ran since"
    send(report(), change(OLD, TEST), build_id="3", branch="main", commit=NEW)
    tasks.apply_policy(project.pk)
    noted = FixPlace.objects.get()
    assert (noted.place, noted.before, noted.after, noted.files) == ("tests only", OLD, NEW, 1), (
        "not the pull request's"
    )
    assert fixes_locate(project_id=project.pk) == 0, "once"
    RunChange.objects.all().delete()
    places = lifecycle_of(project).whole.places
    assert (places.shares[FixPlace.Place.TESTS].part, places.unknown) == (1, 0)
    act(fixed, Action.REOPEN)
    places = lifecycle_of(project).whole.places
    assert (places.shares[FixPlace.Place.TESTS].whole, places.unknown) == (0, 0), "what came back was no fix"
    act(fixed, Action.FIX)
    assert lifecycle_of(project).whole.places.unknown == 1, "another fix is elsewhere"


def test_without_a_change_it_is_not_known_and_said_so(
    fixed: Quarantine, project: Project, send, browser: Client
) -> None:
    send(report(), build_id="3", branch="main", commit=NEW)
    assert fixes_locate(project_id=project.pk) == 0
    assert lifecycle_of(project).whole.places.unknown == 1
    page = browser.get("/projects/shop/quarantine/lifecycle").content.decode()
    assert "1 fix of which it is not known" in page


def test_page_and_api_tell_places_with_their_wholes(
    fixed: Quarantine, project: Project, send, browser: Client, read_token: str, schema: Schema
) -> None:
    send(report(), change(OLD, TEST, CODE), build_id="3", branch="main", commit=NEW)
    fixes_locate(project_id=project.pk)
    body = Program(read_token).read("lifecycle")
    schema.check("lifecycle_retrieve", 200, body)
    places = body["whole"]["fix_places"]
    assert (places["both"]["part"], places["both"]["whole"], places["tests_only"]["part"]) == (1, 1, 0)
    assert body["months"][0]["fix_places"]["both"]["part"] == 1 and body["whole"]["onset_changes"]["code"]["whole"] == 0
    page = browser.get("/projects/shop/quarantine/lifecycle").content.decode()
    assert "Where fixes are" in page and "both:" in page and "1 of 1" in page
