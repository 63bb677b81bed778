"""The events of one execution, bounded: the first and last calls of each site and role, and the ends of a long list."""

from __future__ import annotations

from collections import deque
from typing import Any, NamedTuple

from flakeboard.traces.limits import FIRST_CALLS, LAST_CALLS, LIMITS
from flakeboard.traces.trace import Event, Token, Value


class RawEvent(NamedTuple):
    """As it is recorded; role by name, times in nanoseconds."""

    site: int
    role: str
    value: Value
    start: int
    took: int
    raised: Token | None
    about: str
    error: int
    """Identity of the exception that it raised."""


class Events:
    """Takes events from all threads without a lock: appending to a list or deque is one step of the interpreter."""

    def __init__(self, limit: int = LIMITS.events) -> None:
        self._half = limit // 2
        self._first: list[RawEvent] = []
        self._last: deque[RawEvent] = deque(maxlen=self._half)
        self._tails: dict[tuple[int, str], deque[RawEvent]] = {}
        self._counts: dict[tuple[int, str], int] = {}
        self.cut = 0

    def next_call(self, site: int, role: str) -> int:
        """How often this site was called in this role before."""
        return self._counts.get((site, role), 0)

    def add(self, event: RawEvent) -> None:
        key = (event.site, event.role)
        count = self._counts[key] = self._counts.get(key, 0) + 1
        if count > FIRST_CALLS:
            tail = self._tails.get(key)
            if tail is None:
                tail = self._tails[key] = deque(maxlen=LAST_CALLS)
            tail.append(event)
        elif len(self._first) < self._half:
            self._first.append(event)
        else:
            self.cut += len(self._last) == self._half
            self._last.append(event)

    def sorted(self) -> tuple[list[RawEvent], dict[tuple[int, str], int]]:
        """All that is kept, by start, and how many calls there were where more than is kept."""
        kept = [*self._first, *self._last, *(event for tail in self._tails.values() for event in tail)]
        kept.sort(key=lambda event: event.start)
        over = max(0, len(kept) - 2 * self._half)
        if over:
            self.cut += over
            del kept[self._half : self._half + over]
        most = FIRST_CALLS + LAST_CALLS
        return kept, {key: count for key, count in self._counts.items() if count > most}


def finished(raw: list[RawEvent], began: int) -> tuple[tuple[str, ...], tuple[Event, ...]]:
    """Roles by first appearance, main first, and events in microseconds since the test began."""
    roles: dict[str, int] = {"main": 0}
    events = []
    for event in raw:
        role = roles.setdefault(event.role, len(roles)) if len(roles) < LIMITS.roles else roles.get(event.role, 0)
        start = max(0, (event.start - began) // 1_000)
        events.append(
            Event(event.site, role, event.value, start, max(0, event.took // 1_000), event.raised, event.about)
        )
    return tuple(roles), tuple(events)


def errors_of(error: BaseException | None) -> set[int]:
    """Identities of an exception and of those that it came from."""
    found: set[int] = set()
    waiting: list[Any] = [error]
    while waiting:
        current = waiting.pop()
        if current is not None and id(current) not in found:
            found.add(id(current))
            waiting += [current.__cause__, current.__context__]
    return found
