"""Two ways to page: by a key where a list has no end, by a number where its length is known."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from django.db.models import Q, QuerySet
from django.http import QueryDict

from dashboard.web.query import number

PAGE_SIZE = 50
_PAGES = 1_000_000
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class KeysetPage:
    """A page of a list without an end, and the keys of the pages beside it (empty where there is none)."""

    rows: Sequence[Any]
    older: str
    newer: str
    beyond: bool
    """Not the first page: that it is empty does not say that the list is."""


def keyset_page(rows: "QuerySet[Any]", query: QueryDict, *, moment: str = "", size: int = PAGE_SIZE) -> KeysetPage:
    """The page that `before` or `after` asks for, newest first: by `moment` and id, or by id alone.

    Reads one row more than it shows and counts nothing: the last page is as quick as the first."""
    after, before = _key(query.get("after", ""), moment), _key(query.get("before", ""), moment)
    fields = (moment, "pk") if moment else ("pk",)
    backwards = after is not None
    ordered = rows.order_by(*fields) if backwards else rows.order_by(*(f"-{field}" for field in fields))
    key = after if backwards else before
    if key is not None:
        ordered = ordered.filter(_beyond(key, moment, "gt" if backwards else "lt"))
    found = list(ordered[: size + 1])
    more, shown = len(found) > size, found[:size]
    if backwards:
        shown.reverse()
    has_older, has_newer = (True, more) if backwards else (more, key is not None)
    return KeysetPage(
        shown,
        older=_text(shown[-1], moment) if shown and has_older else "",
        newer=_text(shown[0], moment) if shown and has_newer else "",
        beyond=key is not None,
    )


def _beyond(key: tuple[datetime | None, int], moment: str, side: str) -> Q:
    at, pk = key
    if not moment:
        return Q(**{f"pk__{side}": pk})
    # The first condition says nothing new; it is the one that the index can use.
    return Q(**{f"{moment}__{side}e": at}) & (Q(**{f"{moment}__{side}": at}) | Q(**{f"pk__{side}": pk}))


def _text(row: Any, moment: str) -> str:
    if not moment:
        return str(row.pk)
    return f"{(getattr(row, moment) - _EPOCH) // timedelta(microseconds=1)}.{row.pk}"


def _key(text: str, moment: str) -> tuple[datetime | None, int] | None:
    """The key that a URL names; one that cannot be read is the first page."""
    at, _, pk = text.rpartition(".")
    try:
        return (_EPOCH + timedelta(microseconds=int(at)) if moment else None), int(pk)
    except (ValueError, OverflowError):
        return None


@dataclass(frozen=True, slots=True)
class NumberedPage:
    """Where one is in a list whose length is known."""

    number: int
    total: int
    size: int

    @property
    def first(self) -> int:
        return (self.number - 1) * self.size + 1

    @property
    def last(self) -> int:
        return min(self.number * self.size, self.total)

    @property
    def previous(self) -> int | None:
        return self.number - 1 if self.number > 1 else None

    @property
    def next(self) -> int | None:
        return self.number + 1 if self.last < self.total else None


def page_asked(query: QueryDict) -> int:
    return min(max(number(query, "page", 1), 1), _PAGES)


def offset_asked(query: QueryDict, size: int) -> int:
    return (page_asked(query) - 1) * size


def numbered_page(query: QueryDict, *, total: int, size: int) -> NumberedPage:
    return NumberedPage(page_asked(query), total, size)
