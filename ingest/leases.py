"""Claims on rows: one holder at a time, for as long as it shows signs of life.

A claim is a random id that a conditional update writes into the row, so that of many who ask at once exactly one gets
it, and only its holder can change the row afterwards. The holder renews its lease while it lives: leases can be short,
and what a killed process held is soon free for somebody else. A holder that comes too late raises ClaimLost and throws
its work away.

A model that can be claimed has the columns `claim` and `lease_until`, and `tries` where its claims are counted. Nothing
else writes the first two."""

import logging
import threading
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Generic, TypeVar

from django.db import DatabaseError, connection
from django.db.models import F, Model, Q, QuerySet
from django.db.models.functions import Now

logger = logging.getLogger(__name__)
Row = TypeVar("Row", bound=Model)
FREE: dict[str, Any] = {"claim": None, "lease_until": None}
"""What the columns of a row say that nobody holds."""
_HELD = Q(claim__isnull=False)


class ClaimLost(Exception):
    """Somebody else holds the row now, or nobody does: this work is thrown away."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Lease(Generic[Row]):
    """The rule by which rows of a model are claimed."""

    model: type[Row]
    length: Callable[[], timedelta]
    """How long a claim holds without a sign of life; a setting, so it is read each time."""
    held: Q = _HELD
    """What tells a row that somebody holds."""
    key: str = "pk"
    """The unique column by which callers name a row."""
    counted: bool = True
    """Whether every claim raises the model's `tries` by one."""
    most_tries: Callable[[], int] | None = None
    """After so many dead holders a row is not taken over any more; None for no limit."""
    longest: Callable[[], timedelta] | None = None
    """No lease of ours reaches further ahead: one that does was given before the clock was put back."""

    def claim(self, key: Any, free: Q, *, now: datetime | None = None, **changes: Any) -> "Claim[Row] | None":
        """Take a row that is `free`, and make these changes to it. Of many callers at once exactly one gets a claim.

        `free` may name columns of the row alone: PostgreSQL asks the second of two callers again about the row itself,
        and not about what is joined to it."""
        claim = Claim(self, key, uuid.uuid4())
        tries = {"tries": F("tries") + 1} if self.counted else {}
        until = (now or Now()) + self.length()
        rows = self.model._default_manager.filter(free, **{self.key: key})
        won = rows.update(claim=claim.id, lease_until=until, **tries, **changes) == 1
        return claim if won else None

    def past(self, now: datetime | None = None) -> Q:
        """Rows whose lease has run out, or cannot be one of ours."""
        moment = now or Now()
        past = Q(lease_until__lt=moment)
        return past if self.longest is None else past | Q(lease_until__gt=moment + self.longest())

    def abandoned(self, now: datetime | None = None) -> Q:
        """Rows whose holder died, and that somebody else may try."""
        return self._expired(now) if self.most_tries is None else self._expired(now) & Q(tries__lt=self.most_tries())

    def hopeless(self, now: datetime | None = None) -> "QuerySet[Row]":
        """Rows whose holders died so often that nobody should try again."""
        if self.most_tries is None:
            return self.model._default_manager.none()
        return self.model._default_manager.filter(self._expired(now), tries__gte=self.most_tries())

    def postpone(self, rows: "QuerySet[Row]") -> None:
        """Mark free rows for which a worker was woken just now: nobody needs to look at them for a lease."""
        rows.update(lease_until=Now() + self.length())

    def _expired(self, now: datetime | None) -> Q:
        return self.held & self.past(now)


@dataclass(frozen=True, slots=True)
class Claim(Generic[Row]):
    """A row that is ours, until it is released or its lease runs out."""

    lease: Lease[Row]
    key: Any
    id: uuid.UUID

    @property
    def rows(self) -> "QuerySet[Row]":
        """The row; none once it is no longer ours."""
        lease = self.lease
        return lease.model._default_manager.filter(lease.held, claim=self.id, **{lease.key: self.key})

    def renew(self) -> None:
        """Show a sign of life. A claim that is lost stays lost."""
        self.rows.update(lease_until=Now() + self.lease.length())

    def update(self, **changes: Any) -> None:
        """Change the row, which is a sign of life too. Raises ClaimLost."""
        self._write(lease_until=Now() + self.lease.length(), **changes)

    def release(self, *, pause: timedelta | None = None, **changes: Any) -> None:
        """Change the row and let go of it; after a `pause` it is looked at again. Raises ClaimLost."""
        until = None if pause is None else Now() + pause
        self._write(**{**FREE, "lease_until": until}, **changes)

    def _write(self, **changes: Any) -> None:
        if self.rows.update(**changes) != 1:
            raise ClaimLost

    @contextmanager
    def kept_alive(self) -> Iterator[None]:
        """Renew the claim three times a lease, from a thread with a connection of its own."""
        done = threading.Event()
        what = f"{self.lease.model._meta.verbose_name} {self.key}"

        def keep() -> None:
            try:
                while not done.wait(self.lease.length().total_seconds() / 3):
                    self.renew()
            except DatabaseError:
                logger.warning("%s: the lease could not be renewed", what)
            finally:
                connection.close()

        thread = threading.Thread(target=keep, name=f"lease of {what}", daemon=True)
        thread.start()
        try:
            yield
        finally:
            done.set()
            thread.join()
