"""Tickets: a link for any tracker, and issues on GitHub and GitLab, one for each quarantine however often it is asked."""

import json
from types import SimpleNamespace
from urllib.parse import parse_qs, urlsplit

import pytest
from django.template.loader import render_to_string
from django.test import Client

from dashboard.notify.models import TicketOpening, TrackerSettings
from dashboard.notify.tickets.drafts import BadTemplate, code, draft_of, marker, template_check, ticket_link
from dashboard.notify.tickets.openings import ticket_open
from dashboard.notify.tickets.settings import BadTracker, TrackerValues, tracker_set
from dashboard.notify.tickets.tracker import TrackerFailed
from dashboard.quarantine.models import Quarantine
from dashboard.quarantine.services import quarantine_act
from dashboard.quarantine.states import Action
from ingest.models import Test
from tests.at_once import at_once
from tests.notify.receiver import Receiver, Says
from tests.notify.trackers import FakeGitHub, FakeGitLab
from tests.quarantine.conftest import ANNA, BEN


@pytest.fixture
def github(receiver: Receiver, held: Quarantine) -> FakeGitHub:
    receiver.answers = fake = FakeGitHub()
    wanted = TrackerValues("github", base_url=receiver.url, repository="corp/shop", token=fake.token)
    tracker_set(project=held.project, wanted=wanted)
    return fake


@pytest.fixture
def gitlab(receiver: Receiver, held: Quarantine) -> FakeGitLab:
    receiver.answers = fake = FakeGitLab()
    wanted = TrackerValues("gitlab", base_url=f"{receiver.url}/api/v4/", repository="corp/team/shop", token=fake.token)
    tracker_set(project=held.project, wanted=wanted)
    return fake


@pytest.fixture(params=["github", "gitlab"])
def tracker(request: pytest.FixtureRequest):
    return request.getfixturevalue(request.param)


def test_a_ticket_is_opened_and_the_quarantine_names_it(tracker, held: Quarantine) -> None:
    url = ticket_open(quarantine=held, actor=ANNA)
    (issue,) = tracker.issues
    body = issue.get("body") or issue["description"]
    assert issue["title"] == "Flaky test: test_00" and held.reason in body and "`@cart`" in body
    assert f"/projects/shop/quarantine/{held.pk}" in body
    changed = Quarantine.objects.get(pk=held.pk)
    assert changed.ticket_url == url == (issue.get("html_url") or issue["web_url"])
    assert changed.events.last().action == Action.CHANGE and changed.events.last().actor == "anna"


def test_a_ticket_says_what_helps_against_the_causes(held: Quarantine, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "What helps" not in draft_of(held).body, "there is no analysis yet"
    number = held.members.get().test.number
    row = SimpleNamespace(causes=("time", "no longer a cause"))
    monkeypatch.setattr("dashboard.notify.tickets.drafts.rows_of", lambda columns, numbers: {number: row})
    body = draft_of(held).body
    assert "What helps, by cause:\n\n- time: Pass the clock in" in body and "no longer" not in body


def test_asked_again_there_is_still_one_ticket(tracker, held: Quarantine) -> None:
    first = ticket_open(quarantine=held, actor=ANNA)
    assert ticket_open(quarantine=Quarantine.objects.get(pk=held.pk), actor=BEN) == first
    assert ticket_open(quarantine=held, actor=BEN) == first, "as it was read before"
    assert len(tracker.issues) == 1


def test_a_try_that_died_after_opening_is_found_by_its_mark(tracker, held: Quarantine) -> None:
    """The tracker has the ticket, and we never heard of it."""
    first = ticket_open(quarantine=held, actor=ANNA)
    Quarantine.objects.update(ticket_url="")
    TicketOpening.objects.all().delete()
    assert ticket_open(quarantine=Quarantine.objects.get(pk=held.pk), actor=ANNA) == first
    assert len(tracker.issues) == 1


def test_github_finds_a_new_ticket_before_its_search_knows_it(github: FakeGitHub, held: Quarantine) -> None:
    test_a_try_that_died_after_opening_is_found_by_its_mark(github, held)
    github.search_knows = False
    Quarantine.objects.update(ticket_url="")
    TicketOpening.objects.all().delete()
    ticket_open(quarantine=Quarantine.objects.get(pk=held.pk), actor=ANNA)
    assert len(github.issues) == 1


@pytest.mark.django_db(transaction=True)
def test_many_at_once_get_one_ticket(github: FakeGitHub, held: Quarantine) -> None:
    told = at_once(*[lambda: ticket_open(quarantine=held, actor=ANNA)] * 5)
    assert len(github.issues) == 1
    urls = [one for one in told if isinstance(one, str)]
    assert urls and all("issues/1" in url for url in urls)
    refusals = [one for one in told if one not in urls]
    assert all(isinstance(refusal, TrackerFailed) and "just now" in str(refusal) for refusal in refusals)


def test_a_change_meanwhile_keeps_both(github: FakeGitHub, held: Quarantine) -> None:
    quarantine_act(quarantine=held, version=1, action=Action.CHANGE, actor=BEN, changes={"owner": "@ben"})
    url = ticket_open(quarantine=held, actor=ANNA)
    now = Quarantine.objects.get(pk=held.pk)
    assert (now.owner, now.ticket_url) == ("@ben", url)


@pytest.mark.parametrize(
    ("says", "sentence"),
    [
        (Says(401, b'{"message": "Bad credentials"}'), "does not know the token"),
        (Says(403, b'{"message": "no"}'), "may not do that"),
        (
            Says(403, b"{}", {"X-RateLimit-Remaining": "0", "Retry-After": "60"}),
            "no more requests for now: try again in 60 s",
        ),
        (Says(429, b"{}"), "no more requests"),
        (Says(404, b"{}"), "no such project"),
        (Says(422, b'{"message": "Validation Failed"}'), "answered 422: Validation Failed"),
        (Says(502, b"<html>"), "answered 502"),
        (Says(200, b"<html>"), "answered 200"),
    ],
)
def test_what_a_tracker_refuses_is_said_and_can_be_tried_again(says, sentence, tracker, receiver, held) -> None:
    receiver.answers = [says]
    with pytest.raises(TrackerFailed, match=sentence):
        ticket_open(quarantine=held, actor=ANNA)
    assert "canary" not in TicketOpening.objects.get().error
    receiver.answers = tracker
    assert ticket_open(quarantine=held, actor=ANNA)


def test_an_address_that_no_browser_should_follow_is_no_ticket(github, receiver: Receiver, held) -> None:
    answers = iter([b"[]", b'{"items": []}', json.dumps({"html_url": "javascript:alert(1)", "number": 1}).encode()])
    receiver.answers = lambda got: Says(200, next(answers))
    with pytest.raises(TrackerFailed, match="not a ticket"):
        ticket_open(quarantine=held, actor=ANNA)


def test_a_tracker_on_a_private_network_is_refused(github, held, settings) -> None:
    settings.OUTGOING_ALLOW = []
    with pytest.raises(TrackerFailed, match="OUTGOING_ALLOW"):
        ticket_open(quarantine=held, actor=ANNA)


def test_names_mention_nobody_and_mark_nothing(github, held: Quarantine) -> None:
    Test.objects.filter(name="test_00").update(name="@corp/everyone `x` <!-- flakeboard-0 --> ![](http://evil)")
    body = draft_of(held).body
    assert "`` tests.cart @corp/everyone `x` <!-- flakeboard-0 --> ![](http://evil) ``" in body
    assert code("a") == "`a`" and code("a```b") == "```` a```b ````"


def test_the_mark_cannot_be_guessed(held: Quarantine, settings) -> None:
    before = marker(held)
    settings.SECRET_KEY = "another-key-of-another-installation"
    assert marker(held) != before


# -- settings ----------------------------------------------------------------------------------------------------


def test_another_address_clears_the_token(github: FakeGitHub, held: Quarantine) -> None:
    same = TrackerValues("github", base_url=TrackerSettings.objects.get().base_url, repository="corp/other")
    assert not tracker_set(project=held.project, wanted=same)
    assert TrackerSettings.objects.get().plain_token == github.token
    assert tracker_set(
        project=held.project, wanted=TrackerValues("github", base_url="https://evil.example", repository="a/b")
    )
    assert TrackerSettings.objects.get().token == ""


@pytest.mark.parametrize(
    "wanted",
    [
        TrackerValues("github", repository="../../user"),
        TrackerValues("github", repository="a/b/c"),
        TrackerValues("github", repository="a/b?x=1"),
        TrackerValues("gitlab", repository=""),
        TrackerValues("gitlab", repository="a/b", base_url="file:///etc/passwd"),
        TrackerValues("link", template="javascript:alert('{title}')"),
        TrackerValues("link", template="https://{title}/"),
        TrackerValues("link", template="https://x.example/{title.__class__}"),
        TrackerValues("jira"),
    ],
)
def test_what_cannot_be_a_tracker_is_refused(wanted: TrackerValues, project) -> None:
    with pytest.raises(BadTracker):
        tracker_set(project=project, wanted=wanted)


# -- links -------------------------------------------------------------------------------------------------------


def test_a_link_is_filled_in_and_every_value_quoted(held: Quarantine) -> None:
    Test.objects.filter(name="test_00").update(name="a&b=c#d {body} <script> é")
    link = ticket_link("https://tracker.example/new?title={title}&body={body}&who={owner}&at={url}", held)
    parts = urlsplit(link)
    told = parse_qs(parts.query)
    assert (parts.netloc, parts.path, parts.fragment, set(told)) == (
        "tracker.example",
        "/new",
        "",
        {"title", "body", "who", "at"},
    )
    assert told["title"] == ["Flaky test: a&b=c#d {body} <script> é"] and told["who"] == ["@cart"]


def test_a_long_link_loses_its_body_and_stays_short(held: Quarantine) -> None:
    Test.objects.filter(name="test_00").update(name="é" * 4_000)
    assert len(ticket_link("https://tracker.example/new?title={title}&body={body}", held)) < 6_100


@pytest.mark.parametrize("template", ["", "tracker.example/{title}", "https://", "https://x y/", "https://x/{what}"])
def test_what_is_no_link_template_is_said(template: str) -> None:
    with pytest.raises(BadTemplate):
        template_check(template)


# -- the page ----------------------------------------------------------------------------------------------------


def test_a_person_sets_a_tracker_and_opens_a_ticket(browser: Client, held: Quarantine, receiver: Receiver) -> None:
    receiver.answers = fake = FakeGitHub()
    form = {"kind": "github", "repository": "corp/shop", "base_url": receiver.url, "token": fake.token, "template": ""}
    page = browser.post("/projects/shop/notifications/tracker", form, follow=True).content.decode()
    assert "The tracker is changed." in page and "corp/shop" in page and "canary" not in page
    page = browser.post(f"/projects/shop/quarantine/{held.pk}/ticket", follow=True).content.decode()
    assert "The ticket is https://github.com/corp/shop/issues/1" in page
    refused = browser.post("/projects/shop/notifications/tracker", {**form, "repository": "x"}, follow=True)
    assert "Say it as owner/name." in refused.content.decode()


def test_a_quarantine_shows_its_ticket_or_the_way_to_one(held: Quarantine, github: FakeGitHub) -> None:
    def shown(may: bool = True) -> str:
        quarantine = Quarantine.objects.get(pk=held.pk)
        told = {"project": held.project, "quarantine": quarantine, "may": may}
        return render_to_string("quarantine/_ticket.html", told)

    assert "Open a ticket" in shown() and "<form" in shown() and "<form" not in shown(may=False)
    TrackerSettings.objects.update(kind="link", template="https://tracker.example/?t={title}")
    assert 'href="https://tracker.example/?t=Flaky%20test%3A%20test_00"' in shown(may=False)
    TrackerSettings.objects.all().delete()
    assert "none" in shown()
    Quarantine.objects.update(ticket_url="https://github.com/corp/shop/issues/9")
    assert 'href="https://github.com/corp/shop/issues/9"' in shown()
    Quarantine.objects.update(ticket_url="javascript:alert(1)")
    assert "href" not in shown()
