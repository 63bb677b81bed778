"""How often something may be done: a bucket a caller that empties evenly, kept in the database for all processes.

The generic cell rate algorithm: one number a bucket, the moment at which it is empty again. The table is not logged, so
that no request waits for a disk because of it: after a crash of the database it is empty. What must outlive that is
counted anew by its owner (`dashboard.retention.quotas`)."""

import secrets
import time
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import blake2b
from math import ceil

from django.db import connection

from dashboard.people.models import Bucket

_TAKE = """
    WITH asked (key, cost, period, owing, look) AS (VALUES {rows}),
    taken AS (
        INSERT INTO people_bucket AS bucket (key, empty_at)
        SELECT key, %(now)s + cost FROM asked WHERE NOT look AND (owing OR cost <= period)
        ON CONFLICT (key) DO UPDATE SET empty_at = (
            SELECT greatest(bucket.empty_at, %(now)s) + cost FROM asked WHERE asked.key = bucket.key)
        WHERE (SELECT owing OR greatest(bucket.empty_at, %(now)s) + cost <= %(now)s + period
               FROM asked WHERE asked.key = bucket.key)
        RETURNING key
    )
    SELECT key, true, 0 FROM taken
    UNION ALL SELECT key, false, empty_at FROM people_bucket WHERE key IN (SELECT key FROM asked)
"""
"""What was taken, and what was in the buckets before: a statement sees a table as it was when it began."""
_CLEAN_ONE_IN = 200
"""So many takings for one that removes buckets which are empty: the table holds the callers of one period."""


class TooOften(Exception):
    """Something was done more often than it may be; whoever did it is told when to come again."""

    def __init__(self, what: str, seconds: float) -> None:
        self.seconds = ceil(seconds)
        minutes = ceil(seconds / 60)
        self.sentence = f"{what} Try again in {minutes} minute{'s' if minutes > 1 else ''}."
        super().__init__(self.sentence)


@dataclass(frozen=True, slots=True)
class Rate:
    """So much in so many seconds, all of it at once or spread."""

    amount: float
    period: float


@dataclass(frozen=True, slots=True)
class Ask:
    """What is wanted of one bucket.

    `owing` takes what was already given, such as bytes received, even where it was too much; `look` takes nothing and
    asks whether something could be taken."""

    what: str
    who: object
    rate: Rate
    amount: float = 1
    owing: bool = False
    look: bool = False

    @property
    def key(self) -> bytes:
        return blake2b(f"{self.what}\0{self.who}".encode("utf-8", "replace"), digest_size=16).digest()

    @property
    def cost(self) -> float:
        return self.amount * self.rate.period / self.rate.amount


def take(what: str, who: object, rate: Rate, amount: float = 1, *, owing: bool = False) -> float:
    """Take from a caller's bucket: 0 where that is allowed, else the seconds to wait, and nothing is taken."""
    return take_each(Ask(what, who, rate, amount, owing))[0]


def take_each(*asks: Ask) -> list[float]:
    """Take from several buckets in one statement, each for itself: of each 0, or the seconds to wait."""
    now = time.time()
    taken, before = _taken(asks, now)
    if secrets.randbelow(_CLEAN_ONE_IN) == 0:
        Bucket.objects.filter(empty_at__lt=now).delete()
    return [0.0 if ask.key in taken else _seconds(ask, before.get(ask.key, 0.0), now) for ask in asks]


def _taken(asks: Sequence[Ask], now: float) -> tuple[set[bytes], dict[bytes, float]]:
    """Take from the buckets; return those taken from, and the `empty_at` that each bucket had before."""
    values: dict[str, object] = {"now": now}
    for number, ask in enumerate(sorted(asks, key=lambda ask: ask.key)):  # in one order: nobody waits in a circle
        values[f"row{number}"] = (ask.key, ask.cost, ask.rate.period, ask.owing, ask.look)
    rows = ", ".join(f"%(row{number})s" for number in range(len(asks)))
    with connection.cursor() as cursor:
        cursor.execute(_TAKE.format(rows=rows), values)
        found = [(bytes(key), was_taken, empty_at) for key, was_taken, empty_at in cursor.fetchall()]
    return {key for key, was_taken, _ in found if was_taken}, {key: at for key, was_taken, at in found if not was_taken}


def _seconds(ask: Ask, empty_at: float, now: float) -> float:
    """Until this much may be taken; whoever was refused waits for a second at least."""
    seconds = max(empty_at, now) + ask.cost - ask.rate.period - now
    return max(seconds, 0.0 if ask.look else 1.0)


def give_back(what: str, who: object, rate: Rate, amount: float = 1) -> None:
    """What was taken turns out not to count."""
    ask = Ask(what, who, rate, amount)
    with connection.cursor() as cursor:
        cursor.execute("UPDATE people_bucket SET empty_at = empty_at - %s WHERE key = %s", [ask.cost, ask.key])


def fill(what: str, who: object, rate: Rate, amount: float) -> None:
    """Say how much is in a bucket, whatever was known of it, in one statement: many may say it first at once."""
    ask = Ask(what, who, rate, amount)
    bucket = Bucket(key=ask.key, empty_at=time.time() + ask.cost)
    Bucket.objects.bulk_create([bucket], update_conflicts=True, unique_fields=["key"], update_fields=["empty_at"])
