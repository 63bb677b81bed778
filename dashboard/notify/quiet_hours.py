"""Quiet hours of a channel: whether it is one of them, and when they end. Pure."""

from dataclasses import dataclass
from datetime import datetime, time, timedelta
from functools import lru_cache
from zoneinfo import ZoneInfo, available_timezones


@lru_cache(maxsize=1)
def known_zones() -> frozenset[str]:
    """Names of time zones, such as Europe/Berlin."""
    return frozenset(available_timezones())


@dataclass(frozen=True, slots=True)
class QuietHours:
    """From a time of the day until another, of the next day where that is earlier."""

    begin: time
    until: time
    zone: str

    def end_after(self, now: datetime) -> datetime | None:
        """When the quiet hours end that it is now; None where it is none."""
        local = now.astimezone(ZoneInfo(self.zone))
        clock = local.time()
        over_night = self.until <= self.begin
        inside = (clock >= self.begin or clock < self.until) if over_night else self.begin <= clock < self.until
        if not inside:
            return None
        day = local.date() + timedelta(days=clock >= self.until)
        return datetime.combine(day, self.until, local.tzinfo).replace(fold=local.fold).astimezone(now.tzinfo)
