"""Claims on rows, as every model that is claimed gets them: one holder, renewed while it lives, taken over when not."""

import threading
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any

import pytest
from django.db import OperationalError
from django.utils import timezone

from analytics import refreshing
from dashboard.notify import deliveries
from dashboard.notify.models import Delivery
from dashboard.notify.tickets import openings
from dashboard.notify.tickets.tracker import TrackerFailed
from dashboard.quarantine.models import Quarantine
from ingest import processing
from ingest.leases import FREE, Claim, ClaimLost, Lease
from ingest.metadata import RunMetadata
from ingest.models import Project, Upload
from ingest.services import upload_receive
from tests.at_once import at_once
from tests.conftest import body_of

MANY = 8
OFTEN = timedelta(milliseconds=3)


@dataclass(frozen=True)
class Claimable:
    """A row that waits to be claimed, and how its own module claims it."""

    lease: Lease[Any]
    key: int
    claim: Callable[[], Claim[Any] | None]
    free_abandoned: Callable[[], object] = lambda: None
    """What the sweep does before somebody else can claim it; nothing for most."""

    @property
    def row(self) -> dict[str, Any]:
        return self.lease.model._default_manager.values().get(**{self.lease.key: self.key})

    def tries_after(self, claims: int) -> int:
        """What its row counts; an opening counts how often its tracker failed, which no claim changes."""
        return claims if self.lease.counted else 0

    def die(self, claim: Claim[Any] | None) -> None:
        """Its holder is killed, and its lease runs out."""
        assert claim is not None
        claim.rows.update(lease_until=timezone.now() - timedelta(seconds=1))


def _upload(project: Project) -> Claimable:
    upload, _ = upload_receive(project=project, body=body_of(b"<testsuite/>"), metadata=RunMetadata())
    return Claimable(
        processing.LEASE,
        upload.pk,
        lambda: processing.upload_claim(upload_id=upload.pk),
        free_abandoned=processing.uploads_sweep,
    )


def _refresh(project: Project) -> Claimable:
    refreshing.refresh_ask(project_id=project.pk, delay=0)
    return Claimable(refreshing.LEASE, project.pk, lambda: refreshing.refresh_claim(project_id=project.pk))


def _delivery(project: Project) -> Claimable:
    delivery = Delivery.objects.create(project=project, recipient="anna@corp.example", key="k", message={})
    return Claimable(
        deliveries.LEASE,
        delivery.pk,
        lambda: deliveries.delivery_claim(delivery_id=delivery.pk, now=timezone.now()),
    )


def _opening(project: Project) -> Claimable:
    quarantine = Quarantine.objects.create(project=project)

    def claim() -> Claim[Any] | None:
        try:
            return openings._claim(quarantine)
        except TrackerFailed:
            return None

    return Claimable(openings.LEASE, quarantine.pk, claim)


KINDS = {"upload": _upload, "refresh": _refresh, "delivery": _delivery, "ticket opening": _opening}


@pytest.fixture(params=KINDS)
def claimable(request: pytest.FixtureRequest, project: Project) -> Claimable:
    return KINDS[request.param](project)


@pytest.fixture
def claim(project: Project) -> Claim[Any]:
    held = _refresh(project).claim()
    assert held is not None
    return held


def winner(answers: list[Any]) -> Claim[Any]:
    """The one who got it; everybody else was told that it is taken, and nobody met an error."""
    won = [answer for answer in answers if answer is not None]
    assert len(won) == 1 and isinstance(won[0], Claim), answers
    return won[0]


# -- one holder --------------------------------------------------------------------------------------------------


@pytest.mark.django_db(transaction=True)
def test_of_many_at_once_exactly_one_gets_the_claim(claimable: Claimable) -> None:
    held = winner(at_once(*MANY * [claimable.claim]))
    row = claimable.row
    assert row["claim"] == held.id and row["lease_until"] > timezone.now()
    assert row["tries"] == claimable.tries_after(1)


@pytest.mark.django_db(transaction=True)
def test_of_many_at_once_exactly_one_takes_over_from_the_dead(claimable: Claimable) -> None:
    dead = claimable.claim()
    claimable.die(dead)
    claimable.free_abandoned()
    held = winner(at_once(*MANY * [claimable.claim]))
    assert claimable.row["claim"] == held.id != dead.id
    assert claimable.row["tries"] == claimable.tries_after(2)


@pytest.mark.django_db(transaction=True)
def test_of_a_holder_and_who_takes_over_at_once_one_keeps_the_row(claimable: Claimable) -> None:
    """The late holder releases the row just as another takes it over: whoever is second is told."""
    late = claimable.claim()
    claimable.die(late)
    claimable.free_abandoned()
    released, taken = at_once(late.release, claimable.claim)
    if isinstance(released, ClaimLost):
        assert claimable.row["claim"] == taken.id
    else:
        assert released is None and claimable.row["claim"] == (taken.id if taken else None)


def test_nobody_takes_what_is_held(claimable: Claimable) -> None:
    held = claimable.claim()
    claimable.free_abandoned()
    assert held is not None and claimable.claim() is None
    assert claimable.row["claim"] == held.id


# -- signs of life -----------------------------------------------------------------------------------------------


def test_a_sign_of_life_keeps_the_claim(claimable: Claimable) -> None:
    held = claimable.claim()
    for sign in (held.renew, held.update):
        claimable.die(held)
        sign()
        claimable.free_abandoned()
        assert claimable.claim() is None and claimable.row["claim"] == held.id
        assert claimable.row["lease_until"] > timezone.now() + claimable.lease.length() / 2


def test_a_claim_that_is_lost_stays_lost(claimable: Claimable) -> None:
    late = claimable.claim()
    claimable.die(late)
    claimable.free_abandoned()
    held = claimable.claim()
    before = claimable.row
    late.renew()
    for deed in (late.update, late.release):
        with pytest.raises(ClaimLost):
            deed()
    assert claimable.row == before and before["claim"] == held.id


def test_what_is_released_is_free(claimable: Claimable) -> None:
    claimable.claim().release()
    assert {name: claimable.row[name] for name in FREE} == FREE


def test_what_is_released_with_a_pause_waits(claimable: Claimable) -> None:
    claimable.claim().release(pause=timedelta(hours=1))
    assert claimable.row["claim"] is None
    assert claimable.row["lease_until"] > timezone.now() + timedelta(minutes=50)


# -- giving up ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["upload", "refresh"])
def test_a_row_that_kills_its_holders_is_given_up_after_so_many(kind: str, project: Project, settings) -> None:
    settings.UPLOAD_TRIES = 3
    deadly = KINDS[kind](project)
    lease = deadly.lease
    for tries in range(1, 4):
        assert not lease.hopeless().exists()
        deadly.die(deadly.claim())
        assert deadly.row["tries"] == tries
        if tries < 3:
            deadly.free_abandoned()
    assert not lease.model._default_manager.filter(lease.abandoned()).exists()
    assert lease.hopeless().exists()
    assert deadly.claim() is None


def test_without_a_limit_nothing_is_given_up(project: Project) -> None:
    delivery = _delivery(project)
    for _ in range(10):
        delivery.die(delivery.claim())
    assert not delivery.lease.hopeless().exists()
    assert delivery.claim() is not None


def test_a_lease_that_reaches_too_far_ahead_does_not_hold(project: Project) -> None:
    """It was given before the clock was put back."""
    upload = _upload(project)
    upload.claim()
    Upload.objects.update(lease_until=timezone.now() + timedelta(hours=1))
    assert Upload.objects.filter(processing.LEASE.abandoned()).exists()


# -- kept alive --------------------------------------------------------------------------------------------------


def often(claim: Claim[Any]) -> Claim[Any]:
    """The same claim, renewed every millisecond."""
    return replace(claim, lease=replace(claim.lease, length=lambda: OFTEN))


def renewing(claim: Claim[Any]) -> bool:
    return f"lease of refresh {claim.key}" in {thread.name for thread in threading.enumerate()}


def test_a_claim_is_renewed_until_the_work_is_done(claim: Claim[Any], monkeypatch: pytest.MonkeyPatch) -> None:
    renewals = threading.Semaphore(0)
    monkeypatch.setattr(Claim, "renew", lambda self: renewals.release())
    with often(claim).kept_alive():
        assert renewing(claim)
        for _ in range(3):
            assert renewals.acquire(timeout=60)
    assert not renewing(claim)


def test_the_work_goes_on_where_the_claim_cannot_be_renewed(
    claim: Claim[Any], monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    asked = threading.Event()

    def renew(self: Claim[Any]) -> None:
        asked.set()
        raise OperationalError

    monkeypatch.setattr(Claim, "renew", renew)
    with often(claim).kept_alive():
        assert asked.wait(60)
    assert set(caplog.messages) == {f"refresh {claim.key}: the lease could not be renewed"}


def test_an_error_of_the_work_ends_the_renewing(claim: Claim[Any]) -> None:
    with pytest.raises(ZeroDivisionError), claim.kept_alive():
        raise ZeroDivisionError
    assert not renewing(claim)
