"""The list and the board: what are we not looking at, who answers for it, and for how long?"""

from datetime import timedelta
from html import escape

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone

from analytics.models import Analysis
from dashboard.people.models import Role
from dashboard.quarantine.models import Quarantine
from dashboard.quarantine.services import quarantine_act
from dashboard.quarantine.states import Action
from ingest.models import Run, Test
from tests.people.signed_in import browser_of, member
from tests.web.analysed_project import HOSTILE, Demo
from tests.web.listing import new_project, queries_of, rows_of, source_of, table_of, words_of
from tests.web.quarantining import ANNA, flaky, quarantined
from tests.web.reading import answer


def test_an_empty_project_says_what_to_do_next(reader: Client, demo: Demo) -> None:
    address = demo.at("quarantines")
    assert "Nothing is quarantined" in answer(reader, address)
    assert demo.at("priorities") in source_of(reader, address)
    assert "No quarantine yet" in words_of(reader, address)


def test_the_first_sentence_tells_what_whose_and_until_when(reader: Client, demo: Demo) -> None:
    one, two, three = flaky(demo, 3)
    quarantined(demo, one, owner="@cart", days=3)
    quarantined(demo, two, owner="@checkout", days=20)
    quarantined(demo, three, action=Action.PROPOSE)
    page = answer(reader, demo.at("quarantines"))
    assert page.startswith("2 tests do not block")
    assert "owned by @cart, @checkout" in page
    assert f"Next to expire: {one.name}, in 3 days" in page
    assert "1 proposal awaits a decision" in page


def test_masked_failures_and_clean_runs_are_those_of_the_runs(reader: Client, demo: Demo) -> None:
    test = flaky(demo)[0]
    began = Run.objects.filter(project=demo.project).order_by("started_at").first().started_at - timedelta(hours=1)
    made = quarantined(demo, test, began=began, days=300, needed=10_000)
    row = next(one for one in rows_of(reader, demo.at("quarantines")) if one["id"] == made.pk)
    told = demo.api.read(f"quarantines/{made.pk}")["progress"]
    assert (row["masked"], row["clean"], row["needed"]) == (told["masked"], told["clean"], 10_000)
    assert row["masked"] > 0
    assert f"{row['clean']} of 10000" in words_of(reader, demo.at("quarantines")).replace(",", "")


def test_what_was_clean_long_enough_is_ready_to_leave(reader: Client, demo: Demo) -> None:
    stable = demo.api.read("tests?state=stable&page_size=1")["results"][0]
    test = Test.objects.get(project=demo.project, number=stable["number"])
    began = Analysis.objects.get(pk=demo.analysis.pk).since
    quarantined(demo, test, began=began, days=300, needed=2)
    quarantined(demo, *flaky(demo), needed=2)
    assert "1 is ready to leave" in answer(reader, demo.at("quarantines"))
    assert [row["tests"] for row in rows_of(reader, demo.at("quarantines"), state="ready")] == [[test.name]]


def test_what_is_not_run_is_never_ready_and_shown_as_discouraged(reader: Client, demo: Demo) -> None:
    quarantined(demo, *flaky(demo), mode=Quarantine.Mode.SKIP, needed=0)
    shown = words_of(reader, demo.at("quarantines"))
    assert "skip: not run, discouraged" in shown
    assert rows_of(reader, demo.at("quarantines"), state="ready") == []


@pytest.fixture
def several(demo: Demo) -> dict[str, Quarantine]:
    tests = flaky(demo, 5)
    made = {
        "proposed": quarantined(demo, tests[0], action=Action.PROPOSE, owner="@cart"),
        "active": quarantined(demo, tests[1], owner="@cart @infra", branches=["release/*"]),
        "soon": quarantined(demo, tests[2], days=2, reason="the port is taken"),
        "released": quarantined(demo, tests[3], owner="@checkout"),
    }
    quarantine_act(quarantine=made["released"], version=1, action=Action.RELEASE, actor=ANNA)
    return made


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ({}, {"proposed", "active", "soon"}),
        ({"state": "proposed"}, {"proposed"}),
        ({"state": "active"}, {"active", "soon"}),
        ({"state": "expiring"}, {"soon"}),
        ({"state": "ended"}, {"released"}),
        ({"state": "released"}, {"released"}),
        ({"state": "all"}, {"proposed", "active", "soon", "released"}),
        ({"owner": "@CART"}, {"proposed", "active"}),
        ({"owner": "@infra", "state": "all"}, {"active"}),
        ({"owner": "@car"}, set()),
        ({"q": "PORT is"}, {"soon"}),
        ({"state": "nonsense", "sort": "nonsense", "page": "-1"}, {"proposed", "active", "soon"}),
    ],
)
def test_it_is_narrowed_by_state_owner_and_words(
    reader: Client, demo: Demo, several: dict[str, Quarantine], query: dict[str, str], expected: set[str]
) -> None:
    names = {made.pk: name for name, made in several.items()}
    assert {names[row["id"]] for row in rows_of(reader, demo.at("quarantines"), **query)} == expected


def test_tabs_count_and_lists_sort(reader: Client, demo: Demo, several: dict[str, Quarantine]) -> None:
    shown = words_of(reader, demo.at("quarantines"))
    assert "Open 3" in shown and "Proposed 1" in shown and "Active 2" in shown and "Expiring soon 1" in shown
    assert "Ended 1" in shown and "release/*" in shown
    first = [row["id"] for row in rows_of(reader, demo.at("quarantines"), sort="expires")][0]
    last = [row["id"] for row in rows_of(reader, demo.at("quarantines"), sort="-expires")][-1]
    assert first == last == several["soon"].pk
    assert [row["owner"] for row in table_of(reader, demo.at("quarantines"), state="ended")] == ["'@checkout"]


def test_the_board_has_a_column_for_each_stage(reader: Client, demo: Demo, several: dict[str, Quarantine]) -> None:
    shown = words_of(reader, demo.at("quarantines"), view="board")
    for title in ("Proposed 1", "Active 1", "Expiring within 7 days 1", "Ended in the last 30 days 1"):
        assert title in shown, title
    old = several["released"]
    Quarantine.objects.filter(pk=old.pk).update(ended_at=timezone.now() - timedelta(days=40))
    assert "Ended in the last 30 days 0" in words_of(reader, demo.at("quarantines"), view="board")


def test_queries_do_not_grow_with_the_quarantines(reader: Client, demo: Demo) -> None:
    tests = list(Test.objects.filter(project=demo.project).order_by("number")[:30])
    for test in tests[:2]:
        quarantined(demo, test, branches=["main"])
    few = {view: queries_of(reader, demo.at("quarantines"), view=view) for view in ("", "board")}
    for test in tests[2:]:
        quarantined(demo, test, branches=["main"])
    many = {view: queries_of(reader, demo.at("quarantines"), view=view) for view in ("", "board")}
    assert few == many
    assert max(many.values()) <= 20


def test_hostile_names_reasons_and_owners_are_text(reader: Client, demo: Demo) -> None:
    shout = "<script>alert('x')</script>"
    for name in HOSTILE:
        test = Test.objects.get(project=demo.project, name=name)
        quarantined(demo, test, reason=shout, owner=shout, ticket_url="javascript:alert(1)", branches=[shout])
    for view in ("", "board"):
        shown = source_of(reader, demo.at("quarantines"), view=view)
        assert shout not in shown and escape(shout) in shown
        assert 'href="javascript' not in shown


@pytest.mark.parametrize("kind", ["json", "text", "pytest", "jest", "vitest", "playwright", "junit5", "go", "rspec"])
def test_the_active_list_is_offered_in_every_format(reader: Client, demo: Demo, kind: str) -> None:
    quarantined(demo, *flaky(demo))
    shown = source_of(reader, demo.at("quarantines"))
    assert f"/quarantines/export/{kind} -o quarantine.txt" in shown
    page = reader.get(demo.at("quarantine_export", kind))
    assert page.content == demo.api.get(f"quarantines/export/{kind}").content
    assert reader.get(demo.at("quarantine_export", "abacus")).status_code == 404


def test_viewers_see_no_boxes_and_no_buttons(demo: Demo) -> None:
    viewer = browser_of(member(User.objects.create_user("vic"), demo.project, Role.VIEWER))
    quarantined(demo, *flaky(demo))
    shown = source_of(viewer, demo.at("quarantines"))
    assert 'name="chosen"' not in shown and 'value="release"' not in shown


def test_another_projects_quarantine_is_not_there(reader: Client, demo: Demo) -> None:
    made = quarantined(demo, *flaky(demo))
    other = new_project()
    stranger = browser_of(member(User.objects.create_user("stranger"), other))
    for path in ("", "/new", f"/{made.pk}", "/export/json"):
        assert stranger.get(f"/projects/{demo.project.slug}/quarantine{path}").status_code == 404
    assert stranger.get(f"/projects/{other.slug}/quarantine/{made.pk}").status_code == 404
    assert reader.get(demo.at("quarantine", 10**9)).status_code == 404
    assert reader.get(demo.at("quarantine", 10**20)).status_code == 404
