"""Tickets that are followed: opened for a policy, closed and opened again, told of refuted fixes, each once."""

from dataclasses import replace
from datetime import timedelta

import pytest
from django.utils import timezone

from dashboard import tasks
from dashboard.notify.models import TicketOpening, TrackerSettings
from dashboard.notify.tickets import watch
from dashboard.notify.tickets.openings import ticket_open
from dashboard.notify.tickets.settings import TrackerValues, tracker_set
from dashboard.notify.tickets.tracker import TicketState
from dashboard.notify.tickets.watch import ticket_follow, tickets_due
from dashboard.people.throttling import Rate
from dashboard.quarantine.models import Quarantine
from dashboard.quarantine.policy.settings import DEFAULTS
from dashboard.quarantine.services import Actor, policy_set, quarantine_act
from dashboard.quarantine.states import Action, ActorKind, State
from tests.notify.receiver import Receiver, Says
from tests.notify.trackers import FakeGitHub, FakeGitLab
from tests.quarantine.conftest import ANNA

POLICY = Actor(ActorKind.POLICY, "policy 1")
AWAY = Says(502, b"<html>")


@pytest.fixture(params=["github", "gitlab"])
def tracker(request: pytest.FixtureRequest, receiver: Receiver, held: Quarantine) -> FakeGitHub | FakeGitLab:
    receiver.answers = fake = FakeGitHub() if request.param == "github" else FakeGitLab()
    base = receiver.url if request.param == "github" else f"{receiver.url}/api/v4"
    repository = "corp/shop" if request.param == "github" else "corp/team/shop"
    wanted = TrackerValues(request.param, base_url=base, repository=repository, token=fake.token)
    tracker_set(project=held.project, wanted=wanted)
    return fake


def now_of(quarantine: Quarantine) -> Quarantine:
    return Quarantine.objects.get(pk=quarantine.pk)


def act(quarantine: Quarantine, action: Action, actor: Actor = ANNA, reason: str = "") -> None:
    seen = now_of(quarantine)
    quarantine_act(quarantine=seen, version=seen.version, action=action, actor=actor, reason=reason)


def opens_tickets(quarantine: Quarantine, **settings: object) -> None:
    """Its policy opens tickets, and it becomes active under it."""
    policy_set(project=quarantine.project, settings=replace(DEFAULTS, ticket=True, **settings), version=0, actor=ANNA)
    act(quarantine, Action.RELEASE)
    act(quarantine, Action.REOPEN)


def sweep(hours: float = 0) -> list[int]:
    """What a worker does so many hours from now."""
    now = timezone.now() + timedelta(hours=hours)
    due = tickets_due(now=now)
    for quarantine_id in due:
        ticket_follow(quarantine_id=quarantine_id, now=now)
    return due


# -- a ticket by itself ------------------------------------------------------------------------------------------


def test_a_policy_opens_one_ticket_when_a_quarantine_becomes_active(tracker, held: Quarantine) -> None:
    assert sweep() == [], "no policy asked for it"
    opens_tickets(held)
    assert sweep() == [held.pk]
    assert sweep() == [] and len(tracker.issues) == 1
    assert now_of(held).ticket_url == (tracker.issues[0].get("html_url") or tracker.issues[0]["web_url"])
    assert now_of(held).events.last().actor_kind == ActorKind.CLOCK


def test_what_was_active_before_the_policy_opened_tickets_gets_none(tracker, held: Quarantine) -> None:
    policy_set(project=held.project, settings=replace(DEFAULTS, ticket=True), version=0, actor=ANNA)
    assert sweep() == [] and tracker.issues == []


def test_a_ticket_that_somebody_took_away_is_not_opened_again(tracker, held: Quarantine) -> None:
    opens_tickets(held)
    sweep()
    seen = now_of(held)
    quarantine_act(quarantine=seen, version=seen.version, action=Action.CHANGE, actor=ANNA, changes={"ticket_url": ""})
    sweep(3)
    assert now_of(held).ticket_url == "" and len(tracker.issues) == 1


def test_killed_after_the_ticket_was_opened_the_quarantine_hears_of_it_all_the_same(
    tracker, held: Quarantine, monkeypatch: pytest.MonkeyPatch
) -> None:
    opens_tickets(held)
    monkeypatch.setattr("dashboard.notify.tickets.openings._tell", _killed)
    with pytest.raises(KeyboardInterrupt):
        sweep()
    monkeypatch.undo()
    TicketOpening.objects.update(lease_until=None, due_at=None)
    sweep()
    assert now_of(held).ticket_url and len(tracker.issues) == 1


def _killed(*_: object, **__: object) -> None:
    raise KeyboardInterrupt


def test_a_tracker_that_is_away_for_a_day_stops_no_quarantine_and_loses_nothing(
    tracker, held: Quarantine, receiver: Receiver
) -> None:
    opens_tickets(held)
    receiver.answers = [AWAY]
    tried = sum(bool(sweep(minutes / 60)) for minutes in range(0, 24 * 60, 10))
    assert now_of(held).state == State.ACTIVE and now_of(held).ticket_url == ""
    assert 12 <= tried <= 24, "later each time, and never given up"
    assert "answered 502" in TicketOpening.objects.get().error
    receiver.answers = tracker
    sweep(26.5)
    assert now_of(held).ticket_url and len(tracker.issues) == 1 and TicketOpening.objects.get().error == ""


# -- closed and opened again -------------------------------------------------------------------------------------


@pytest.fixture
def with_ticket(tracker, held: Quarantine) -> Quarantine:
    ticket_open(quarantine=held, actor=ANNA)
    return held


def state_of(tracker, state: str) -> None:
    words = {"open": "opened"} if isinstance(tracker, FakeGitLab) else {}
    tracker.issues[0]["state"] = words.get(state, state)


def test_a_closed_ticket_is_a_claim_that_it_is_fixed_within_two_hours(tracker, with_ticket: Quarantine) -> None:
    assert sweep() == [], "it was asked for a moment ago"
    sweep(1.1)
    assert now_of(with_ticket).state == State.ACTIVE
    state_of(tracker, "closed")
    assert sweep(1.9) == []
    sweep(2.2)
    fixed = now_of(with_ticket)
    event = fixed.events.last()
    assert (fixed.state, event.action, event.actor_kind, event.reason) == (
        State.FIXED,
        Action.FIX,
        ActorKind.CLOCK,
        "Its ticket was closed.",
    )
    sweep(4)
    assert now_of(with_ticket).version == fixed.version, "once"


def test_a_ticket_that_was_opened_again_proposes_the_quarantine_again_once(tracker, with_ticket: Quarantine) -> None:
    state_of(tracker, "closed")
    sweep(2)
    state_of(tracker, "open")
    sweep(4)
    sweep(6)
    proposal = Quarantine.objects.exclude(pk=with_ticket.pk).get()
    assert (proposal.state, proposal.reason) == (State.PROPOSED, "Its ticket was opened again.")
    assert proposal.owner == with_ticket.owner and proposal.ticket_url == now_of(with_ticket).ticket_url
    assert [member.test_id for member in proposal.members.all()] == [m.test_id for m in with_ticket.members.all()]
    act(proposal, Action.APPROVE)
    state_of(tracker, "closed")
    sweep(8)
    assert now_of(proposal).state == State.FIXED, "its ticket is followed on"


def test_a_policy_may_leave_tickets_alone(tracker, with_ticket: Quarantine) -> None:
    policy_set(project=with_ticket.project, settings=replace(DEFAULTS, resolve=False), version=0, actor=ANNA)
    state_of(tracker, "closed")
    assert sweep(5) == [] and now_of(with_ticket).state == State.ACTIVE


def test_a_ticket_of_another_repository_by_the_same_number_says_nothing(tracker, with_ticket: Quarantine) -> None:
    tracker.issues[0].update({"state": "closed", "html_url": "https://x.example/9", "web_url": "https://x.example/9"})
    sweep(2)
    assert now_of(with_ticket).state == State.ACTIVE
    assert "another ticket by this number" in TicketOpening.objects.get().error


def test_killed_between_the_answer_and_what_follows_neither_is_kept(
    tracker, with_ticket: Quarantine, monkeypatch: pytest.MonkeyPatch
) -> None:
    state_of(tracker, "closed")
    monkeypatch.setattr(watch, "_act", _killed)
    with pytest.raises(KeyboardInterrupt):
        sweep(2)
    monkeypatch.undo()
    assert TicketOpening.objects.get().state == "open"
    TicketOpening.objects.update(lease_until=timezone.now() - timedelta(hours=1))
    sweep(2)
    assert now_of(with_ticket).state == State.FIXED


def test_somebody_who_was_quicker_keeps_their_change(
    tracker, with_ticket: Quarantine, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Slow:
        def state(self, _: object) -> TicketState:
            act(with_ticket, Action.RELEASE)
            return TicketState.CLOSED

    monkeypatch.setattr(watch, "tracker_of", lambda _: Slow())
    sweep(2)
    assert now_of(with_ticket).state == State.RELEASED


# -- refuted -----------------------------------------------------------------------------------------------------


def comments(tracker) -> list[str]:
    return [comment["body"] for comment in tracker.comments.get(1, [])]


def test_a_refuted_fix_opens_the_ticket_again_and_comments_once(tracker, with_ticket: Quarantine) -> None:
    state_of(tracker, "closed")
    sweep(2)
    act(with_ticket, Action.REOPEN, POLICY, "It flakes again.")
    assert sweep() == [with_ticket.pk], "at once, not at the next hour"
    assert tracker.issues[0]["state"] in ("open", "opened")
    (comment,) = comments(tracker)
    assert "the fix is refuted" in comment and "`It flakes again.`" in comment
    sweep(2)
    sweep(4)
    assert len(comments(tracker)) == 1 and now_of(with_ticket).state == State.ACTIVE
    state_of(tracker, "closed")
    sweep(6)
    assert now_of(with_ticket).state == State.FIXED, "closed again, it is claimed again"
    act(with_ticket, Action.REOPEN, POLICY, "It flakes again.")
    sweep()
    assert len(comments(tracker)) == 2, "once for each"


def test_killed_after_the_comment_it_is_not_written_again(
    tracker, with_ticket: Quarantine, monkeypatch: pytest.MonkeyPatch
) -> None:
    state_of(tracker, "closed")
    sweep(2)
    act(with_ticket, Action.REOPEN, POLICY, "It flakes again.")
    monkeypatch.setattr(watch, "after_answer", _killed)
    with pytest.raises(KeyboardInterrupt):
        sweep()
    monkeypatch.undo()
    assert len(comments(tracker)) == 1
    TicketOpening.objects.update(lease_until=timezone.now() - timedelta(hours=1))
    sweep()
    assert len(comments(tracker)) == 1 and TicketOpening.objects.get().told_version == now_of(with_ticket).version


def test_a_release_that_did_not_hold_is_no_refuted_fix(tracker, with_ticket: Quarantine) -> None:
    act(with_ticket, Action.RELEASE)
    act(with_ticket, Action.REOPEN, POLICY, "It flakes again.")
    sweep(2)
    assert comments(tracker) == []


# -- how many ----------------------------------------------------------------------------------------------------


def test_past_so_many_a_minute_tickets_wait(tracker, with_ticket: Quarantine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watch, "RATE", Rate(1, 3_600))
    state_of(tracker, "closed")
    watch.take("tickets", 0, watch.RATE)
    sweep(2)
    assert now_of(with_ticket).state == State.ACTIVE


def test_a_tracker_that_fails_is_asked_for_one_ticket_at_a_time(tracker, held, quarantined) -> None:
    others = [quarantined(name) for name in ("test_01", "test_02")]
    for quarantine in (held, *others):
        ticket_open(quarantine=quarantine, actor=ANNA)
    assert len(tickets_due(now=timezone.now() + timedelta(hours=2))) == 3
    TicketOpening.objects.update(tries=2)
    assert len(tickets_due(now=timezone.now() + timedelta(hours=2))) == 1


def test_the_sweep_hands_out_what_is_due(tracker, with_ticket: Quarantine, monkeypatch: pytest.MonkeyPatch) -> None:
    TicketOpening.objects.update(due_at=None)
    handed = []
    monkeypatch.setattr(tasks.follow_ticket, "apply_async", lambda arguments, **_: handed.append(arguments))
    tasks.sweep_tickets()
    assert handed == [(with_ticket.pk,)]
    tasks.follow_ticket(with_ticket.pk)
    assert TicketOpening.objects.get().due_at > timezone.now() + timedelta(minutes=59)


def test_without_a_tracker_nothing_is_due(tracker, with_ticket: Quarantine) -> None:
    TrackerSettings.objects.update(token="")
    assert sweep(5) == []
