"""What a page is asked for in its URL, cleaned: a hand-written query is never an error, it only finds less."""

from collections.abc import Container
from datetime import date, timedelta

from django.http import QueryDict

_LONGEST = 255
_DIGITS = 18
_LAST_DAY = date.max - timedelta(days=8)
"""The week after it is still in the calendar."""


def words(query: QueryDict, name: str) -> str:
    """A search or filter text. PostgreSQL takes no NUL."""
    return query.get(name, "").replace("\0", "").strip()[:_LONGEST]


def choice(query: QueryDict, name: str, known: Container[str]) -> str:
    """One of the known values, else nothing."""
    value = query.get(name, "")
    return value if value in known else ""


def sort_asked(query: QueryDict, names: Container[str]) -> str:
    """One of these names, with a minus where it sorts down; else nothing."""
    value = query.get("sort", "")
    return value if value.removeprefix("-") in names else ""


def number(query: QueryDict, name: str, default: int) -> int:
    """A whole number, zero or more."""
    value = query.get(name, "")
    return int(value) if value.isascii() and value.isdecimal() and len(value) <= _DIGITS else default


def day(query: QueryDict, name: str) -> date | None:
    """A day as `2026-03-02`; None for anything that is none."""
    try:
        found = date.fromisoformat(words(query, name))
    except ValueError:
        return None
    return min(found, _LAST_DAY)
