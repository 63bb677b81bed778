"""Tickets in Jira Cloud, Jira Server and Linear: opened once, followed, reopened and commented on; refusals say what to do."""

import json
from dataclasses import replace
from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone

from dashboard.notify.models import TicketOpening, TrackerSettings
from dashboard.notify.tickets.markup import document, wiki
from dashboard.notify.tickets.openings import ticket_open
from dashboard.notify.tickets.settings import BadTracker, TrackerValues, tracker_set
from dashboard.notify.tickets.tracker import TrackerFailed
from dashboard.notify.tickets.watch import ticket_follow, tickets_due
from dashboard.quarantine.models import Quarantine
from dashboard.quarantine.services import Actor, quarantine_act
from dashboard.quarantine.states import Action, ActorKind, State
from ingest.models import Test
from tests.notify.receiver import Receiver, Says
from tests.notify.trackers import FakeJira, FakeLinear
from tests.quarantine.conftest import ANNA

HOSTILE = "[~admin] {color:red}x{color} `y` http://evil.example/[a|b]"


def values(kind: str, receiver: Receiver) -> TrackerValues:
    place = "ENG" if kind == "linear" else "SHOP"
    token = FakeLinear.token if kind == "linear" else FakeJira.token
    account = FakeJira.account if kind == "jira" else ""
    return TrackerValues(kind, base_url=receiver.url, repository=place, token=token, account=account)


@pytest.fixture(params=["jira", "jira_server", "linear"])
def tracker(request: pytest.FixtureRequest, receiver: Receiver, held: Quarantine) -> FakeJira | FakeLinear:
    receiver.answers = fake = FakeLinear() if request.param == "linear" else FakeJira(cloud=request.param == "jira")
    tracker_set(project=held.project, wanted=values(request.param, receiver))
    return fake


def sweep(hours: float = 0) -> None:
    now = timezone.now() + timedelta(hours=hours)
    for quarantine_id in tickets_due(now=now):
        ticket_follow(quarantine_id=quarantine_id, now=now)


def text_of(fake: FakeJira | FakeLinear) -> str:
    issue = fake.issues[0]
    return json.dumps(issue["fields"]["description"]) if isinstance(fake, FakeJira) else issue["description"]


def test_a_ticket_is_opened_once_and_followed_until_its_fix_is_refuted(tracker, held: Quarantine, receiver) -> None:
    """One quarantine through its ticket's life, as a tracker and we tell each other of it."""
    url = ticket_open(quarantine=held, actor=ANNA)
    expected = (
        "https://linear.app/corp/issue/ENG-1" if isinstance(tracker, FakeLinear) else f"{receiver.url}/browse/SHOP-1"
    )
    assert url == expected == Quarantine.objects.get().ticket_url
    assert held.reason in text_of(tracker) and f"/projects/shop/quarantine/{held.pk}" in text_of(tracker)
    Quarantine.objects.update(ticket_url="")
    TicketOpening.objects.all().delete()
    assert ticket_open(quarantine=Quarantine.objects.get(), actor=ANNA) == url, "found by its mark"
    assert len(tracker.issues) == 1
    sweep(1.1)
    assert Quarantine.objects.get().state == State.ACTIVE
    tracker.close(tracker.issues[0])
    sweep(3)
    fixed = Quarantine.objects.get()
    assert (fixed.state, fixed.events.last().reason) == (State.FIXED, "Its ticket was closed.")
    policy = Actor(ActorKind.POLICY, "policy 1")
    quarantine_act(quarantine=fixed, version=fixed.version, action=Action.REOPEN, actor=policy, reason="It flakes.")
    sweep()
    TicketOpening.objects.update(told_version=fixed.version)
    sweep()
    (comment,) = tracker.comments
    assert "the fix is refuted" in json.dumps(comment) and "It flakes." in json.dumps(comment)
    sweep(5)
    assert Quarantine.objects.get().state == State.ACTIVE, "it is open again"


JIRA = [
    (
        Says(400, b'{"errorMessages": [], "errors": {"customfield_1": "Severity is required."}}'),
        "customfield_1: Severity",
    ),
    (Says(401, b"{}"), "Jira does not know the token"),
    (Says(403, b"{}"), "create, comment on and transition"),
    (Says(404, b"{}"), "no such project or issue"),
    (Says(429, b"{}", {"Retry-After": "30"}), "no more requests for now: try again in 30 s"),
    (Says(200, b'{"key": "../x"}'), "not an issue"),
]
LINEAR = [
    (FakeLinear().error("AUTHENTICATION_ERROR", 401), "does not know the key"),
    (FakeLinear().error("FORBIDDEN", 200), "may not do that"),
    (FakeLinear().error("RATELIMITED"), "no more requests for now"),
    (FakeLinear().error("INVALID_INPUT"), "Linear refused: No."),
    (Says(200, b'{"data": {"teams": {"nodes": []}}}'), "has no team ENG"),
    (Says(502, b"<html>"), "answered 502"),
]


@pytest.mark.parametrize(
    ("kind", "says", "sentence"), [*(("jira", *case) for case in JIRA), *(("linear", *case) for case in LINEAR)]
)
def test_a_refusal_says_what_to_do_and_no_secret(kind, says, sentence, receiver: Receiver, held: Quarantine) -> None:
    tracker_set(project=held.project, wanted=values(kind, receiver))
    receiver.answers = [says]
    with pytest.raises(TrackerFailed, match=sentence):
        ticket_open(quarantine=held, actor=ANNA)
    assert "canary" not in TicketOpening.objects.get().error


def test_an_issue_that_jira_does_not_take_says_which_field(receiver: Receiver, held: Quarantine) -> None:
    receiver.answers = FakeJira(cloud=True)
    tracker_set(project=held.project, wanted=replace(values("jira", receiver), issue_type="Story"))
    with pytest.raises(TrackerFailed, match="issuetype: Specify a valid issue type. Choose another type"):
        ticket_open(quarantine=held, actor=ANNA)


def test_a_workflow_without_a_way_back_says_so(receiver: Receiver, held: Quarantine) -> None:
    receiver.answers = fake = FakeJira(cloud=True)
    tracker_set(project=held.project, wanted=values("jira", receiver))
    ticket_open(quarantine=held, actor=ANNA)
    fake.close(fake.issues[0])
    sweep(2)
    seen = Quarantine.objects.get()
    quarantine_act(quarantine=seen, version=seen.version, action=Action.REOPEN, actor=ANNA)
    receiver.answers = lambda got: Says(200, b'{"transitions": []}') if got.path.endswith("/transitions") else fake(got)
    sweep()
    assert "no way back for SHOP-1" in TicketOpening.objects.get().error and fake.comments == []


def test_foreign_text_is_code_in_every_markup(tracker, held: Quarantine) -> None:
    Test.objects.filter(name="test_00").update(name=HOSTILE)
    ticket_open(quarantine=held, actor=ANNA)
    if isinstance(tracker, FakeLinear):
        assert f"`` tests.cart {HOSTILE} ``" in text_of(tracker)
    elif tracker.cloud:
        node = {"type": "text", "text": f"tests.cart {HOSTILE}", "marks": [{"type": "code"}]}
        assert json.dumps(node)[1:-1] in text_of(tracker)
    else:
        body = tracker.issues[0]["fields"]["description"]
        assert "[~" not in body and "{color" not in body and "{{tests.cart &#91;&#126;admin&#93;" in body


def test_markup_has_lists_links_and_code() -> None:
    text = "Flaky:\n\n- `a b`\n- and 2 more\n\nSee: https://x.example/q/1"
    blocks = document(text)["content"]
    assert [block["type"] for block in blocks] == ["paragraph", "bulletList", "paragraph"]
    assert blocks[2]["content"][1]["marks"] == [{"type": "link", "attrs": {"href": "https://x.example/q/1"}}]
    assert wiki(text) == "Flaky:\n\n* {{a b}}\n* and 2 more\n\nSee: https://x.example/q/1"


@pytest.mark.parametrize(
    "wanted",
    [
        TrackerValues("jira", base_url="https://x.example", repository='SHOP" OR 1', account="a@b.example"),
        TrackerValues("jira", base_url="https://x.example", repository="SHOP"),
        TrackerValues("jira_server", repository="SHOP"),
        TrackerValues("linear", repository="eng/../x"),
    ],
)
def test_what_cannot_be_a_tracker_is_refused(wanted: TrackerValues, project) -> None:
    with pytest.raises(BadTracker):
        tracker_set(project=project, wanted=wanted)


def test_a_person_sets_jira_on_the_page(browser: Client, project) -> None:
    form = {"kind": "jira", "repository": "SHOP", "base_url": "https://corp.example", "token": "canary", "template": ""}
    page = browser.post("/projects/shop/notifications/tracker", form, follow=True).content.decode()
    assert "E-mail address: A token of Jira Cloud belongs to an e-mail address" in page
    form |= {"account": "anna@corp.example", "issue_type": "Task"}
    page = browser.post("/projects/shop/notifications/tracker", form, follow=True).content.decode()
    stored = TrackerSettings.objects.get()
    assert (stored.account, stored.issue_type) == ("anna@corp.example", "Task")
    assert "Jira Cloud: <bdi>SHOP</bdi>" in " ".join(page.split()) and "canary" not in page
