"""How old each kind of data may become. Pure."""

from dataclasses import dataclass, fields
from datetime import datetime, timedelta


@dataclass(frozen=True, slots=True)
class Ages:
    """Days; None for ever."""

    uploads: int | None = 30
    """The bytes that CI sent, after they were processed."""
    texts: int | None = 180
    """What failures say: message, text and output. Type and signature stay as long as the report."""
    reports: int | None = 400
    """Reports and runs, with everything that hangs on them."""
    analyses: int | None = 90
    """Analyses before the current one, which is always kept."""
    decisions: int | None = 400
    """Answers of the gate."""
    deliveries: int | None = 90
    """Messages that were sent, or given up."""


@dataclass(frozen=True, slots=True)
class Cutoffs:
    """What is older than this goes; None: nothing."""

    uploads: datetime | None
    texts: datetime | None
    reports: datetime | None
    analyses: datetime | None
    decisions: datetime | None
    deliveries: datetime | None


def cutoffs(ages: Ages, now: datetime) -> Cutoffs:
    return Cutoffs(**{field.name: _before(getattr(ages, field.name), now) for field in fields(Ages)})


def _before(days: int | None, now: datetime) -> datetime | None:
    return None if days is None else now - timedelta(days=days)
