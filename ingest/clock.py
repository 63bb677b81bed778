"""Places a run in its project's history by our clock, and by the runner's clock only within the day. Pure.

The rule, which the migration `ingest.0010_placed_fill` repeats for older rows:

- an import states a date, and that date places the run;
- everything else is placed by its receipt, or by the runner's clock if that is plausible: not ahead of the receipt,
  and at most 24 hours before it. So runs that are sent later in the day keep their order, and a clock in 1970, 2019
  or tomorrow moves nothing.

Which runs came before another, as its expected size needs, depends only on receipt: `Run.received_at`."""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

PLAUSIBLE = timedelta(hours=24)


@dataclass(frozen=True, slots=True)
class Clock:
    """The times of an upload that its run and reports inherit."""

    received_at: datetime
    """When it first arrived, by our clock."""
    started_at: datetime
    """By the runner's clock; the receipt if that is unknown."""
    kept_from: datetime
    """From when retention counts."""
    stated_at: datetime | None = None
    """The date that an import states."""

    @property
    def placed_at(self) -> datetime:
        return placed_at(received_at=self.received_at, started_at=self.started_at, stated_at=self.stated_at)


def placed_at(*, received_at: datetime, started_at: datetime, stated_at: datetime | None = None) -> datetime:
    """The time that orders runs and reports; never after the receipt."""
    if stated_at is not None:
        return min(stated_at, received_at)
    return started_at if is_plausible(started_at, received_at) else received_at


def is_plausible(started_at: datetime, received_at: datetime) -> bool:
    return received_at - PLAUSIBLE <= started_at <= received_at


def in_utc(moment: datetime | None) -> datetime | None:
    """The time in UTC; None if it has no date there, such as the last hours of the year 9999."""
    try:
        return None if moment is None else moment.astimezone(UTC)
    except OverflowError:
        return None
