"""Checks of JSON that may be hostile: each names what is wrong."""

from __future__ import annotations

import json
import math
from typing import Any, Callable, Sequence

_MOST = 2**53
"""Microseconds and counts beyond it are no measurement."""


PLAIN = frozenset({int, float, bool, type(None)})
"""Types that JSON tells as they are."""


class Wrong(ValueError):
    """What is wrong with a line."""


def parsed(line: bytes) -> dict[str, Any]:
    try:
        body = json.loads(line.decode("utf-8"), parse_constant=_no_constant)
    except (ValueError, RecursionError) as error:
        raise Wrong(str(error) if isinstance(error, Wrong) else "no JSON") from None
    if not isinstance(body, dict):
        raise Wrong("no table")
    return body


def _no_constant(name: str) -> Any:
    raise Wrong(f"{name} is no number")


def check_number(value: Any) -> None:
    """Of values that are not numbers nothing is said."""
    if isinstance(value, int) and not -(2**63) <= value < 2**63:
        raise Wrong("a number beyond 64 bits")
    if isinstance(value, float) and not math.isfinite(value):
        raise Wrong("a number beyond all bounds")


def check_numbers(values: Sequence[Any]) -> None:
    """As `check_number` for each of them, but as a whole, since they may be many."""
    for kind in (int, float):
        numbers = [value for value in values if type(value) is kind]
        if numbers:
            check_number(min(numbers))
            check_number(max(numbers))


def check_depth(value: Any, left: int) -> None:
    if isinstance(value, (dict, list)):
        if left == 0:
            raise Wrong("nested too deeply")
        members = value.values() if isinstance(value, dict) else value
        if {dict, list}.isdisjoint(map(type, members)):
            return
        for inner in members:
            check_depth(inner, left - 1)


def check_texts(value: Any, check: Callable[[Any], str]) -> None:
    check_number(value)
    if isinstance(value, str):
        check(value)
    elif isinstance(value, dict):
        for name, inner in value.items():
            check(name)
            check_texts(inner, check)
    elif isinstance(value, list):
        for inner in value:
            check_texts(inner, check)


def list_of(value: Any) -> list[Any]:
    if not isinstance(value, list):
        raise Wrong("no list where one belongs")
    return value


def number_of(value: Any) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value <= _MOST:
        raise Wrong("no number where one belongs")
    return value


def index_of(value: Any, length: int | None) -> int:
    index = number_of(value)
    if length is not None and index >= length:
        raise Wrong("an index outside its table")
    return index


def numbers_of(column: Any, length: int | None = None) -> Sequence[int]:
    """A list of numbers, or of indices into a table of so many rows; checked as a whole, since it may be long."""
    numbers: list[int] = list_of(column)
    if not numbers:
        return numbers
    if set(map(type, numbers)) != {int} or min(numbers) < 0 or (largest := max(numbers)) > _MOST:
        raise Wrong("no number where one belongs")
    if length is not None and largest >= length:
        raise Wrong("an index outside its table")
    return numbers
