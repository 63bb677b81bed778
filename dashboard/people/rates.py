"""How often something may be done: a bucket a caller that empties evenly, kept in the database for all processes.

The generic cell rate algorithm: one number a bucket, the moment at which it is empty again."""

import secrets
import time
from dataclasses import dataclass
from hashlib import blake2b

from django.db import connection

from dashboard.people.models import Bucket

_TAKE = """
    INSERT INTO people_bucket AS bucket (key, empty_at) VALUES (%(key)s, %(now)s + %(cost)s)
    ON CONFLICT (key) DO UPDATE SET empty_at = greatest(bucket.empty_at, %(now)s) + %(cost)s
    WHERE %(owing)s OR greatest(bucket.empty_at, %(now)s) + %(cost)s <= %(now)s + %(period)s
    RETURNING empty_at
"""
_CLEAN_ONE_IN = 200
"""So many takings for one that removes buckets which are empty: the table holds the callers of one period."""


@dataclass(frozen=True, slots=True)
class Rate:
    """So much in so many seconds, all of it at once or spread."""

    amount: float
    period: float


def take(what: str, who: object, rate: Rate, amount: float = 1, *, owing: bool = False) -> float:
    """Take from a caller's bucket: 0 where that is allowed, else the seconds to wait, and nothing is taken.

    `owing` takes what was already given, such as bytes received, even where it was too much."""
    now = time.time()
    cost = amount * rate.period / rate.amount
    values = {"key": _key(what, who), "now": now, "cost": cost, "period": rate.period, "owing": owing}
    with connection.cursor() as cursor:
        cursor.execute(_TAKE, values)
        taken = cursor.fetchone() is not None
    if secrets.randbelow(_CLEAN_ONE_IN) == 0:
        Bucket.objects.filter(empty_at__lt=now).delete()
    return 0.0 if taken else max(wait(what, who, rate), 1.0)


def wait(what: str, who: object, rate: Rate, amount: float = 1) -> float:
    """The seconds until this much may be taken; 0 for now."""
    empty_at = Bucket.objects.filter(key=_key(what, who)).values_list("empty_at", flat=True).first()
    cost = amount * rate.period / rate.amount
    return max(0.0, (empty_at or 0.0) + cost - rate.period - time.time())


def give_back(what: str, who: object, rate: Rate) -> None:
    """What was taken turns out not to count."""
    with connection.cursor() as cursor:
        cursor.execute(
            "UPDATE people_bucket SET empty_at = empty_at - %s WHERE key = %s",
            [rate.period / rate.amount, _key(what, who)],
        )


def _key(what: str, who: object) -> bytes:
    return blake2b(f"{what}\0{who}".encode("utf-8", "replace"), digest_size=16).digest()
