"""Deciding in the browser: one by one and many at once; who is too late is told."""

import re
from html import unescape

import pytest
from django.contrib.auth.models import User
from django.test import Client

from analytics.models import ClusterFinding
from dashboard.people.models import Role
from dashboard.quarantine.models import Quarantine, QuarantineEvent
from dashboard.quarantine.owners.rules import Pattern
from dashboard.quarantine.owners.store import owner_patterns_set
from dashboard.quarantine.services import Actor, quarantine_act
from dashboard.quarantine.states import Action, ActorKind
from ingest.models import Test
from tests.people.signed_in import browser_of, member
from tests.web.analysed_project import Demo
from tests.web.listing import queries_of, source_of, words_of
from tests.web.quarantining import flaky, quarantined
from tests.web.reading import answer, words

BEN = Actor(ActorKind.PERSON, "ben")


def results(html: str) -> list[str]:
    found = re.search(r'<ul[^>]* aria-label="Results">(.*?)</ul>', html, re.DOTALL)
    assert found is not None
    return [words(one) for one in re.findall(r"<li>(.*?)</li>", found[1], re.DOTALL)]


@pytest.mark.parametrize(
    ("actor", "sentence"),
    [
        (Actor(ActorKind.POLICY, "policy 3"), "policy 3 proposed it."),
        (Actor(ActorKind.CLOCK, "expiry"), "Flakeboard's expiry proposed it."),
        (Actor(ActorKind.TOKEN, "ci"), "a token ci proposed it."),
    ],
)
def test_what_is_no_person_is_named_in_what_happened(reader: Client, demo: Demo, actor: Actor, sentence: str) -> None:
    made = quarantined(demo, flaky(demo)[0], action=Action.PROPOSE)
    QuarantineEvent.objects.filter(quarantine=made).update(actor=actor.name, actor_kind=actor.kind)
    shown = words_of(reader, demo.at("quarantine", made.pk))
    assert sentence in shown and "the policy policy" not in shown


# -- a new one ---------------------------------------------------------------------------------------------------


def test_a_test_is_proposed_with_owner_ticket_and_expiry(reader: Client, demo: Demo) -> None:
    test = flaky(demo)[0]
    owner_patterns_set(project=demo.project, patterns=[Pattern("classname", "*", "@everybody")])
    address = f"{demo.at('quarantine_new')}?test={test.number}"
    form = source_of(reader, address)
    assert 'value="@everybody"' in form and 'name="days" value="30"' in form
    needed = demo.api.read(f"tests/{test.number}")["test"]["reruns"]["to_confirm"]
    assert f"clean for {needed} runs" in answer(reader, address)
    said = {"reason": "it flakes", "owner": "@cart", "ticket_url": "https://tracker.example/7", "days": "12",
            "mode": "mute", "branches": "main, release/*", "environments": "os=linux, os=mac", "begin": "propose"}  # fmt: skip
    done = reader.post(address, said, follow=True)
    made = Quarantine.objects.get()
    assert done.redirect_chain == [(demo.at("quarantine", made.pk), 302)]
    assert (made.state, made.owner, made.ticket_url, made.needed) == ("proposed", "@cart", said["ticket_url"], needed)
    assert (made.branches, made.environments) == (["main", "release/*"], {"os": ["linux", "mac"]})
    assert made.events.get().actor == "robin"
    assert "It awaits a decision" in answer(reader, demo.at("quarantine", made.pk))


def test_a_cluster_is_quarantined_as_one(reader: Client, demo: Demo) -> None:
    cluster = ClusterFinding.objects.filter(analysis=demo.analysis, view="together").first()
    address = f"{demo.at('quarantine_new')}?cluster=together/{cluster.number}"
    reader.post(address, {"reason": "one cause", "days": 30, "mode": "mute", "begin": "quarantine"})
    made = Quarantine.objects.get()
    assert (made.state, made.cluster, made.members.count()) == ("active", cluster.number, len(cluster.data["tests"]))
    assert f"Cluster of {made.members.count()} tests" in words_of(reader, demo.at("quarantines"))


def test_several_tests_are_proposed_at_once_and_the_taken_one_is_told(reader: Client, demo: Demo) -> None:
    tests = flaky(demo, 3)
    first = quarantined(demo, tests[0])
    query = "&".join(f"test={test.number}" for test in tests)
    done = reader.post(f"{demo.at('quarantine_new')}?{query}", {"reason": "they flake", "days": 30, "mode": "mute"})
    outcomes = results(done.content.decode())
    assert f"quarantine {first.pk}, active" in outcomes[0] and outcomes[0].startswith("not done")
    assert [one.startswith("done") for one in outcomes[1:]] == [True, True]
    assert Quarantine.objects.filter(state="proposed").count() == 2


@pytest.mark.parametrize(
    "wrong",
    [{"reason": ""}, {"days": "0"}, {"days": "366"}, {"days": "x"}, {"ticket_url": "javascript:alert(1)"},
     {"environments": "linux"}, {"mode": "ignore"}, {"owner": "x" * 300}, {"branches": "x" * 300}],
)  # fmt: skip
def test_what_cannot_be_is_told_beside_the_field(reader: Client, demo: Demo, wrong: dict[str, str]) -> None:
    address = f"{demo.at('quarantine_new')}?test={flaky(demo)[0].number}"
    done = reader.post(address, {"reason": "x", "days": "30", "mode": "mute", **wrong})
    assert done.status_code == 422
    assert "invalid-feedback" in done.content.decode()
    assert not Quarantine.objects.exists()


@pytest.mark.parametrize("query", ["test=999999999", "test=x", "cluster=together/99999", "cluster=1", "cluster=odd/1"])
def test_what_is_not_there_cannot_be_quarantined(reader: Client, demo: Demo, query: str) -> None:
    assert reader.get(f"{demo.at('quarantine_new')}?{query}").status_code == 404


def test_without_a_test_it_says_where_to_choose_one(reader: Client, demo: Demo) -> None:
    assert answer(reader, demo.at("quarantine_new")) == "Choose a test first."
    assert reader.post(demo.at("quarantine_new"), {"reason": "x", "days": 1, "mode": "mute"}).status_code == 422


# -- one ---------------------------------------------------------------------------------------------------------


def act(reader: Client, demo: Demo, made: Quarantine, action: str, **said: object):
    data = {"version": made.version, **said}
    return reader.post(demo.at("quarantine_do", made.pk, action), data, follow=True)


def test_the_page_offers_what_the_state_allows(reader: Client, demo: Demo) -> None:
    made = quarantined(demo, *flaky(demo), action=Action.PROPOSE)
    offered = lambda: re.findall(rf"quarantine/{made.pk}/(\w+)\"", source_of(reader, demo.at("quarantine", made.pk)))  # noqa: E731
    assert offered() == ["approve", "reject", "change"]
    made = quarantine_act(quarantine=made, version=1, action=Action.APPROVE, actor=BEN)
    assert offered() == ["extend", "release", "fix", "change"]
    quarantine_act(quarantine=made, version=2, action=Action.FIX, actor=BEN)
    assert offered() == ["reopen"]


def test_each_step_is_told_in_the_trail(reader: Client, demo: Demo) -> None:
    made = quarantined(demo, *flaky(demo), action=Action.PROPOSE, owner="@cart")
    assert "is approved" in words(act(reader, demo, made, "approve", reason="yes, it does").content.decode())
    made.refresh_from_db()
    terms = {"owner": "@checkout", "mode": "skip", "ticket_url": "", "branches": "", "environments": ""}
    act(reader, demo, made, "change", reason="moved", **terms)
    made.refresh_from_db()
    act(reader, demo, made, "extend", days=60)
    shown = words_of(reader, demo.at("quarantine", made.pk))
    assert "robin approved it. yes, it does State: proposed became active." in shown
    assert "robin changed it. moved Owner: @cart became @checkout. Mode: mute became skip." in shown
    assert re.search(r"robin extended it\. Expiry: \d{4}-\d\d-\d\d \d\d:\d\d UTC became", shown)
    assert shown.index("extended it") < shown.index("changed it") < shown.index("proposed it")


def test_who_is_too_late_is_told_who_was_quicker(reader: Client, demo: Demo) -> None:
    made = quarantined(demo, *flaky(demo), action=Action.PROPOSE)
    quarantine_act(quarantine=made, version=1, action=Action.REJECT, actor=BEN)
    page = words(act(reader, demo, made, "approve").content.decode())
    assert "Nothing is changed. ben (person) was quicker: reject" in page
    assert Quarantine.objects.get().state == "rejected"


def test_a_change_that_cannot_be_is_shown_in_its_form(reader: Client, demo: Demo) -> None:
    made = quarantined(demo, *flaky(demo))
    done = act(reader, demo, made, "change", owner="", mode="mute", environments="linux")
    assert done.status_code == 422 and "Write name=value" in done.content.decode()
    assert act(reader, demo, made, "dance").status_code == 404
    assert "Nothing is changed" in words(act(reader, demo, made, "extend", days=9_999).content.decode())
    assert Quarantine.objects.get().version == 1


def test_changing_nothing_says_nothing_of_the_scope(reader: Client, demo: Demo) -> None:
    made = quarantined(demo, *flaky(demo), environments={"os": "linux"}, owner="@cart")
    same = {"owner": "@cart", "mode": "mute", "ticket_url": "", "branches": "", "environments": "os=linux"}
    act(reader, demo, made, "change", **same)
    assert QuarantineEvent.objects.get(version=2).after == {}


def test_viewers_may_look_and_not_touch(demo: Demo) -> None:
    viewer = browser_of(member(User.objects.create_user("vic"), demo.project, Role.VIEWER))
    made = quarantined(demo, *flaky(demo))
    assert "Maintainers of this project decide" in words_of(viewer, demo.at("quarantine", made.pk))
    assert viewer.post(demo.at("quarantine_do", made.pk, "release"), {"version": 1}).status_code == 403
    assert viewer.post(demo.at("quarantine_bulk"), {"chosen": f"{made.pk}:1", "action": "release"}).status_code == 403
    assert viewer.get(demo.at("quarantine_new")).status_code == 403
    assert Quarantine.objects.get().state == "active"


def test_its_page_costs_the_same_for_a_test_and_for_a_cluster(reader: Client, demo: Demo) -> None:
    tests = list(Test.objects.filter(project=demo.project).order_by("number")[:20])
    one, many = quarantined(demo, tests[0]), quarantined(demo, *tests[1:])
    assert queries_of(reader, demo.at("quarantine", one.pk)) == queries_of(reader, demo.at("quarantine", many.pk))


# -- many --------------------------------------------------------------------------------------------------------


def test_of_many_the_lost_one_is_told_and_the_others_are_done(reader: Client, demo: Demo) -> None:
    made = [quarantined(demo, test, action=Action.PROPOSE) for test in flaky(demo, 3)]
    quarantine_act(quarantine=made[1], version=1, action=Action.APPROVE, actor=BEN)
    chosen = [f"{one.pk}:1" for one in made]
    done = reader.post(
        demo.at("quarantine_bulk"),
        {"chosen": chosen, "action": "approve", "reason": "Monday", "kept": "state=proposed"},
    )
    outcomes = results(done.content.decode())
    assert [one.split()[0] for one in outcomes] == ["done", "not", "done"]
    assert "ben (person) was quicker: approve" in outcomes[1]
    assert set(Quarantine.objects.values_list("state", flat=True)) == {"active"}
    assert QuarantineEvent.objects.filter(actor="robin", reason="Monday").count() == 2
    assert f"{demo.at('quarantines')}?state=proposed" in unescape(done.content.decode())


def test_many_are_extended_and_released(reader: Client, demo: Demo) -> None:
    made = [quarantined(demo, test, days=2) for test in flaky(demo, 2)]
    reader.post(demo.at("quarantine_bulk"), {"chosen": [f"{one.pk}:1" for one in made], "action": "extend", "days": 60})
    before = {one.pk: one.expires_at for one in made}
    assert all(quarantine.expires_at > before[quarantine.pk] for quarantine in Quarantine.objects.all())
    reader.post(demo.at("quarantine_bulk"), {"chosen": [f"{one.pk}:2" for one in made], "action": "release"})
    assert set(Quarantine.objects.values_list("state", flat=True)) == {"released"}


@pytest.mark.parametrize("sent", [{}, {"action": "release"}, {"chosen": "1:1"}, {"chosen": ["x", "1", "9999:1", "1:x"], "action": "release"}, {"chosen": f"{'9' * 30}:1", "action": "release"}])  # fmt: skip
def test_odd_choices_do_nothing(reader: Client, demo: Demo, sent: dict[str, object]) -> None:
    made = quarantined(demo, *flaky(demo))
    assert reader.post(demo.at("quarantine_bulk"), sent).status_code == 200
    assert Quarantine.objects.get(pk=made.pk).state == "active"
    assert reader.get(demo.at("quarantine_bulk")).status_code == 405
