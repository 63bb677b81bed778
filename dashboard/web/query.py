"""What a page is asked for in its URL, cleaned: a hand-written query is never an error, it only finds less."""

from collections.abc import Container

from django.http import QueryDict

_LONGEST = 255
_DIGITS = 18


def words(asked: QueryDict, name: str) -> str:
    """A search or filter text. PostgreSQL takes no NUL."""
    return asked.get(name, "").replace("\0", "").strip()[:_LONGEST]


def choice(asked: QueryDict, name: str, known: Container[str]) -> str:
    """One of the known values, else nothing."""
    value = asked.get(name, "")
    return value if value in known else ""


def sort_asked(asked: QueryDict, names: Container[str]) -> str:
    """One of these names, with a minus where it sorts down; else nothing."""
    value = asked.get("sort", "")
    return value if value.removeprefix("-") in names else ""


def number(asked: QueryDict, name: str, default: int) -> int:
    """A whole number, zero or more."""
    value = asked.get(name, "")
    return int(value) if value.isascii() and value.isdecimal() and len(value) <= _DIGITS else default
