"""A rename that brings tests under a quarantine is told on the quarantine's page and in the audit log."""

import pytest
from django.test import Client

from dashboard.people.models import AuditEntry
from dashboard.quarantine.models import Quarantine
from dashboard.quarantine.selectors import active_tests
from dashboard.quarantine.services import Actor, Terms, quarantine_act, quarantine_create
from dashboard.quarantine.states import Action, ActorKind
from ingest.models import Project, Rename, Test
from tests.conftest import Send

ANNA = Actor(ActorKind.PERSON, "anna")


@pytest.fixture
def rename(project: Project, send: Send) -> Rename:
    for name in ("before", "after"):
        send(f"<testsuite name='s'><testcase classname='shop' name='{name}'/></testsuite>".encode(), build_id=name)
    old, new = Test.objects.get(name="before"), Test.objects.get(name="after")
    return Rename.objects.get_or_create(project=project, old=old, new=new, defaults={"score": 0.9})[0]


def quarantined(*tests: Test, action: Action = Action.QUARANTINE) -> Quarantine:
    return quarantine_create(project=tests[0].project, tests=tests, actor=ANNA, terms=Terms(), action=action)


def decide(page: Client, rename: Rename, decision: str = "accept") -> None:
    page.post(f"/projects/shop/renames/{rename.pk}", {"decision": decision, "test": rename.new.number})


@pytest.mark.parametrize(("covered", "added"), [("before", "after"), ("after", "before")])
def test_what_a_rename_adds_is_told_with_who_and_which(page: Client, rename: Rename, covered: str, added: str) -> None:
    held = quarantined(Test.objects.get(name=covered))
    decide(page, rename)
    event = held.events.get(version=2)
    assert (event.actor, event.actor_kind, event.action) == ("kim", "person", "change")
    assert event.reason == "Accepted that shop::before is called shop::after now."
    assert (event.before, event.after) == (
        {"tests": [f"shop::{covered}"]},
        {"tests": [f"shop::{covered}", f"shop::{added}"]},
    )
    held.refresh_from_db()
    assert held.version == 2
    assert [test.name for test in active_tests(held.project_id)] == ["after"]
    shown = page.get(f"/projects/shop/quarantine/{held.pk}").content.decode()
    assert "Accepted that shop::before is called shop::after now." in shown
    assert f"Tests: shop::{covered} became shop::{covered}, shop::{added}." in shown


def test_the_audit_log_names_the_quarantines_and_tests(page: Client, rename: Rename) -> None:
    held = quarantined(rename.old)
    decide(page, rename)
    entry = AuditEntry.objects.get(action="rename.accepted")
    assert (entry.actor_name, entry.project_slug, entry.target) == ("kim", "shop", "shop::after")
    assert entry.before == {"name": "shop::before"}
    told = {"quarantine": held.pk, "tests": ["shop::before"], "added": ["shop::after"]}
    assert entry.after == {"name": "shop::after", "widened": [told]}


def test_one_that_can_be_reopened_is_told_too_and_one_that_was_rejected_is_not(page: Client, rename: Rename) -> None:
    ended = quarantined(rename.old)
    quarantine_act(quarantine=ended, version=1, action=Action.RELEASE, actor=ANNA)
    rejected = quarantined(rename.old, action=Action.PROPOSE)
    quarantine_act(quarantine=rejected, version=1, action=Action.REJECT, actor=ANNA)
    decide(page, rename)
    assert [one.events.count() for one in (ended, rejected)] == [3, 2]


def test_a_name_that_was_joined_before_is_named_too(page: Client, rename: Rename, send: Send) -> None:
    send(b"<testsuite name='s'><testcase classname='shop' name='oldest'/></testsuite>", build_id="0")
    Test.objects.filter(name="oldest").update(alias_of=rename.old)
    held = quarantined(rename.new)
    decide(page, rename)
    assert set(held.events.get(version=2).after["tests"]) == {"shop::after", "shop::before", "shop::oldest"}


def test_a_quarantine_of_both_is_not_widened(page: Client, rename: Rename) -> None:
    held = quarantined(rename.old, rename.new)
    decide(page, rename)
    assert held.events.count() == 1
    assert AuditEntry.objects.get(action="rename.accepted").after["widened"] == []


def test_what_is_dismissed_widens_nothing_and_is_in_the_log(page: Client, rename: Rename) -> None:
    held = quarantined(rename.old)
    decide(page, rename, "dismiss")
    assert held.events.count() == 1
    assert AuditEntry.objects.filter(action="rename.dismissed").count() == 1
    decide(page, rename)
    assert not AuditEntry.objects.filter(action="rename.accepted").exists()
