"""The clock: quarantines that expire block again, and their owners hear of it 7 days and 1 day before."""

import logging
from datetime import datetime, timedelta

from django.utils import timezone

from dashboard.quarantine.models import Notification, Quarantine
from dashboard.quarantine.services import CLOCK, QuarantineConflict, notify, quarantine_act
from dashboard.quarantine.states import Action, NotAllowed, State

logger = logging.getLogger(__name__)
WARNINGS = (1, 7)
"""Days before the end, the shortest first."""
_AT_ONCE = 1_000


def quarantines_expire(*, now: datetime | None = None) -> int:
    """Expire quarantines that are over, warn of those that soon will be, and return how many expired (idempotent)."""
    now = now or timezone.now()
    active = Quarantine.objects.filter(state=State.ACTIVE)
    expired = sum(
        _expire(quarantine, now) for quarantine in active.filter(expires_at__lte=now).order_by("expires_at")[:_AT_ONCE]
    )
    soon = active.filter(expires_at__gt=now, expires_at__lte=now + timedelta(days=max(WARNINGS)))
    for quarantine in soon.order_by("expires_at").iterator():
        _warn(quarantine, now)
    return expired


def _expire(quarantine: Quarantine, now: datetime) -> bool:
    try:
        quarantine_act(
            quarantine=quarantine,
            version=quarantine.version,
            action=Action.EXPIRE,
            actor=CLOCK,
            reason="Its time is over.",
            now=now,
        )
    except (QuarantineConflict, NotAllowed) as error:
        logger.info("quarantine %s does not expire: %s", quarantine.pk, error)
        return False
    return True


def _warn(quarantine: Quarantine, now: datetime) -> None:
    """One warning for each of the days, the later one alone where both are due; none for a time that never was."""
    left = quarantine.expires_at - now
    days = next(days for days in WARNINGS if left <= timedelta(days=days))
    since = quarantine.activated_at or quarantine.created_at
    if quarantine.expires_at - timedelta(days=days) > since:
        notify(
            project_id=quarantine.project_id,
            kind=Notification.Kind.EXPIRES_SOON,
            key=_key(quarantine, days),
            target=quarantine.owner,
            payload={"quarantine": quarantine.pk, "expires_at": quarantine.expires_at.isoformat(), "days": days},
        )


def _key(quarantine: Quarantine, days: int) -> str:
    """Extended, it is warned of anew."""
    return f"expires:{quarantine.pk}:{days}:{quarantine.expires_at.isoformat()}"
