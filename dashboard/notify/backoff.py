"""When to try again: twice as long each time, within a day, and not before we were told to. Pure."""

import random
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime

FIRST = timedelta(seconds=30)
LONGEST = timedelta(hours=3)
GIVE_UP = timedelta(days=1)
"""How long after it was made a message is given up."""


def next_try(
    *,
    tries: int,
    made_at: datetime,
    now: datetime,
    server_delay: timedelta | None = None,
    chance: Callable[[], float] = random.random,
) -> datetime | None:
    """When to try again after this many tries, or None if that would be more than a day after the message was made."""
    whole = min(FIRST * 2 ** min(tries - 1, 20), LONGEST)
    moment = now + max(whole / 2 + whole / 2 * chance(), server_delay or timedelta())
    return moment if moment <= made_at + GIVE_UP else None


def retry_after(header: str, now: datetime) -> timedelta | None:
    """What a Retry-After header asks for: seconds, or a moment."""
    written = header.strip()
    if written.isascii() and written.isdecimal():
        return timedelta(seconds=min(int(written[:9]), 10**8))
    try:
        moment = parsedate_to_datetime(written)
    except (ValueError, TypeError):
        return None
    return max(moment.replace(tzinfo=moment.tzinfo or UTC) - now, timedelta())


def may_help(status: int) -> bool:
    """Whether the same request may be answered better later."""
    return status >= 500 or status in (408, 425, 429)
