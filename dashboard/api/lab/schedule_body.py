"""The body of POST schedules, checked by hand: a serializer would take seconds for 100,000 tests."""

from collections.abc import Mapping, Sequence
from typing import Any

from analytics.lab.schedules.collected_tests import CollectedTests, Name
from analytics.lab.schedules.request import (
    BY,
    GIVEN,
    KINDS,
    MOST_SHARDS,
    MOST_TESTS,
    ORDER,
    SELECT,
    SHARD,
    Change,
    ScheduleRequest,
)
from dashboard.api.errors import ApiError

_FIELDS = (
    *("kind", "by", "tests", "changed", "order", "total", "index", "build", "job", "environment"),
    *("enhance", "inferred"),
)
_CHANGED = ("coverage", "lines", "tests", "unsafe")
_LONGEST = 255
_LONGEST_NAME = 4_000
_PAIRS = 32
_MOST_SPANS = 200_000
_MOST_REASONS = 1_000
_MOST_LINES = 1_000_000
"""Of one source file."""


def schedule_request(data: Any) -> ScheduleRequest:
    """What the body asks for; 422 with a sentence where it cannot be."""
    if not isinstance(data, dict):
        raise _wrong("The body must be a JSON object.")
    _known(data, _FIELDS, "")
    kind = _word(data, "kind", KINDS)
    by = _word(data, "by", BY[kind]) if "by" in data else BY[kind][0]
    tests = _tests(data.get("tests"))
    shards = _shards(data) if kind == SHARD else {}
    if kind != SHARD:
        _absent(data, ("total", "index"), f"A schedule of kind {kind}")
    if kind == ORDER:
        _absent(data, ("build",), "A schedule of kind order")
    if by != GIVEN:
        _absent(data, ("order",), "A schedule that is not given")
    if kind != SELECT:
        _absent(data, ("changed",), f"A schedule of kind {kind}")
    return ScheduleRequest(
        kind=kind,
        by=by,
        tests=tests,
        environment=_environment(data.get("environment", {})),
        job=_text(data, "job"),
        build=_text(data, "build", needed=kind == SHARD),
        enhance=_flag(data, "enhance", True),
        inferred=_flag(data, "inferred", False),
        order=_permutation(data.get("order"), len(tests)) if by == GIVEN else (),
        change=_change(data.get("changed"), len(tests)) if kind == SELECT else None,
        **shards,
    )


def _wrong(sentence: str, code: str = "invalid") -> ApiError:
    return ApiError(422, code, sentence)


def _known(data: Mapping[str, Any], fields: Sequence[str], where: str) -> None:
    unknown = sorted(set(data) - set(fields))
    if unknown:
        there = f"{where}{', '.join(fields)}"
        raise _wrong(f"There is no field {(where + unknown[0])[:60]!r}; there are {there}.", "unknown_field")


def _absent(data: Mapping[str, Any], names: Sequence[str], what: str) -> None:
    for name in names:
        if name in data:
            raise _wrong(f"{what} takes no {name}.")


def _word(data: Mapping[str, Any], name: str, words: Sequence[str]) -> str:
    value = data.get(name)
    if not isinstance(value, str) or value not in words:
        raise _wrong(f"{name} must be one of {', '.join(words)}.")
    return value


def _text(data: Mapping[str, Any], name: str, *, needed: bool = False) -> str:
    value = data.get(name, "")
    if not isinstance(value, str) or len(value) > _LONGEST or (needed and not value.strip()):
        few = "1" if needed else "0"
        raise _wrong(f"{name} must be text of {few} to {_LONGEST} characters.")
    return storable(value)


def storable(text: str) -> str:
    """Without what PostgreSQL does not store: NUL, and halves of surrogate pairs."""
    if text.isascii() and "\0" not in text:
        return text
    return text.replace("\0", "").encode("utf-8", "replace").decode("utf-8")


def _flag(data: Mapping[str, Any], name: str, default: bool) -> bool:
    value = data.get(name, default)
    if not isinstance(value, bool):
        raise _wrong(f"{name} must be true or false.")
    return value


def _number(data: Mapping[str, Any], name: str, low: int, high: int) -> int:
    value = data.get(name)
    if type(value) is not int or not low <= value <= high:
        raise _wrong(f"{name} must be a whole number from {low:,} to {high:,}.")
    return value


def _shards(data: Mapping[str, Any]) -> dict[str, Any]:
    total = _number(data, "total", 1, MOST_SHARDS)
    index = _number(data, "index", 1, total) if "index" in data else 0
    return {"total": total, "index": index}


def _environment(value: Any) -> dict[str, str]:
    pairs = isinstance(value, dict) and all(isinstance(part, str) for pair in value.items() for part in pair)
    if not pairs or len(value) > _PAIRS or any(len(part) > _LONGEST for pair in value.items() for part in pair):
        raise _wrong(f"environment must be an object of at most {_PAIRS} short texts.")
    return {storable(name): storable(inner) for name, inner in value.items()}


def _tests(value: Any) -> CollectedTests:
    if not isinstance(value, list):
        raise _wrong("tests must be a list of [class, name, file], in original order.")
    if len(value) > MOST_TESTS:
        raise ApiError(413, "limit_tests", f"A schedule is of at most {MOST_TESTS:,} tests; these are {len(value):,}.")
    return CollectedTests([_name(place, row) for place, row in enumerate(value)])


def _name(place: int, row: Any) -> Name:
    if not isinstance(row, list) or len(row) != 3:
        raise _wrong(f"tests: number {place} must be [class, name, file].")
    classname, name, file = row
    if not (isinstance(classname, str) and isinstance(name, str) and isinstance(file, str)) or not name:
        raise _wrong(f"tests: number {place} must be three texts, and its name must not be empty.")
    if len(classname) > _LONGEST_NAME or len(name) > _LONGEST_NAME or len(file) > _LONGEST_NAME:
        raise _wrong(f"tests: number {place} has a name of more than {_LONGEST_NAME:,} characters.")
    return storable(classname), storable(name), storable(file)


def _places(name: str, value: Any, count: int) -> list[int]:
    if not isinstance(value, list) or not all(type(place) is int and 0 <= place < count for place in value):
        raise _wrong(f"{name} must be a list of places in tests, from 0.")
    if len(set(value)) != len(value):
        raise _wrong(f"{name} must have no place twice.")
    return value


def _permutation(value: Any, count: int) -> list[int]:
    order = _places("order", value, count)
    if len(order) != count:
        raise _wrong("order must have the place of every test once.")
    return order


def _change(value: Any, count: int) -> Change:
    if not isinstance(value, dict):
        raise _wrong("changed must be an object: a schedule of kind select goes by what changed.")
    _known(value, _CHANGED, "changed.")
    reasons = value.get("unsafe", [])
    if not isinstance(reasons, list) or len(reasons) > _MOST_REASONS or not all(_is_short(line) for line in reasons):
        raise _wrong("changed.unsafe must be a list of sentences.")
    return Change(
        coverage=_number(value, "coverage", 0, 2**31 - 1),
        lines=_spans(value.get("lines", {})),
        tests=_places("changed.tests", value.get("tests", []), count),
        unsafe=[storable(line) for line in reasons],
    )


def _is_short(line: Any) -> bool:
    return isinstance(line, str) and len(line) <= 2 * _LONGEST


def _spans(value: Any) -> dict[str, list[tuple[int, int]]]:
    if (
        not isinstance(value, dict)
        or sum(len(spans) for spans in value.values() if isinstance(spans, list)) > _MOST_SPANS
    ):
        raise _wrong("changed.lines must be an object: of each file a list of [first, last].")
    return {storable(file): [_span(file, span) for span in _list(spans)] for file, spans in value.items()}


def _is_list(value: Any) -> bool:
    return isinstance(value, list)


def _list(spans: Any) -> list[Any]:
    if not _is_list(spans):
        raise _wrong("changed.lines must have a list of [first, last] for each file.")
    return spans


def _span(file: str, span: Any) -> tuple[int, int]:
    whole = isinstance(span, list) and len(span) == 2 and all(type(line) is int for line in span)
    if not whole or not 1 <= span[0] <= span[1] <= _MOST_LINES:
        raise _wrong(f"changed.lines: {file[:60]!r} has something that is no [first, last].")
    return span[0], span[1]
