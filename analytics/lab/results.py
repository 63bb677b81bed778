"""What a client reports at the end of an experiment, read with care: hostile until checked. Pure."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

_KINDS = ("OD", "NOD", "ID", "infrastructure", "unknown")
_ROLES = ("victim", "brittle")
_PARTNERS = ("polluter", "state-setter")
CONFIRMED = 3
"""A dependency is shown, and disproved, by at least so many runs that all agree."""
_MOST_TESTS = 1_000
_LONGEST_TEXT = 4_000


@dataclass(frozen=True, slots=True)
class Group:
    """Tests that together, in this order, decide how a test ends."""

    role: str
    tests: tuple[str, ...]
    cleaners: tuple[str, ...]
    agreed: int
    """Runs that ended as a dependency makes them end: failed behind polluters, passed behind state-setters."""
    of: int

    @property
    def is_shown(self) -> bool:
        return self.agreed == self.of >= CONFIRMED

    @property
    def is_disproved(self) -> bool:
        return self.agreed == 0 and self.of >= CONFIRMED


@dataclass(frozen=True, slots=True)
class TestResult:
    """What the client found of one test."""

    test: str
    kind: str
    role: str
    alone: tuple[int, int] | None
    """Passed, and of how many runs alone."""
    groups: tuple[Group, ...]
    details: Mapping[str, Any]

    @property
    def references(self) -> Iterator[str]:
        yield self.test
        for group in self.groups:
            yield from (*group.tests, *group.cleaners)


def found_in(result: Mapping[str, Any]) -> list[TestResult]:
    """The findings of a result; what is not as agreed is left out."""
    return [read for value in _list(result.get("found")) if (read := _found(value)) is not None]


def disproved_in(result: Mapping[str, Any]) -> list[tuple[str, Group]]:
    """Known dependencies that were tried and did not show: the test, and the group before it."""
    pairs = ((value.get("test"), _group(value)) for value in _list(result.get("disproved")) if isinstance(value, dict))
    return [(test, group) for test, group in pairs if _is_text(test) and group is not None and group.is_disproved]


def not_run_in(result: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Tests that could not be run, each with the reason."""
    found = []
    for value in _list(result.get("not_run")):
        test, why = (value.get("test"), value.get("why", "")) if isinstance(value, dict) else (value, "")
        if _is_text(test):
            found.append((test, why if isinstance(why, str) else ""))
    return found


def _found(value: Any) -> TestResult | None:
    if not isinstance(value, dict) or not _is_text(value.get("test")) or value.get("kind") not in _KINDS:
        return None
    alone = value.get("alone")
    counts = (alone.get("passed"), alone.get("of")) if isinstance(alone, dict) else (None, None)
    role = value.get("role")
    groups = tuple(group for item in _list(value.get("groups"))[:_MOST_TESTS] if (group := _group(item)) is not None)
    return TestResult(
        test=value["test"],
        kind=value["kind"],
        role=role if role in _ROLES else "",
        alone=(counts[0], counts[1]) if _is_count(counts[0]) and _is_count(counts[1]) else None,
        groups=groups,
        details=_details(value),
    )


def _group(value: Any) -> Group | None:
    if not isinstance(value, dict):
        return None
    role, tests = value.get("role", _PARTNERS[0]), _texts(value.get("tests"))
    if role not in _PARTNERS or not tests:
        return None
    agreed, of = value.get("failed" if role == _PARTNERS[0] else "passed"), value.get("of")
    if not _is_count(agreed) or not _is_count(of):
        return None
    return Group(role, tests, _texts(value.get("cleaners")), agreed, of)


def _details(value: Mapping[str, Any]) -> dict[str, Any]:
    """What pages show besides: as sent, within bounds."""
    kept: dict[str, Any] = {name: value[name] for name in ("after_failure", "only_whole", "usual") if name in value}
    kept = {name: flag for name, flag in kept.items() if isinstance(flag, bool)}
    if order := _texts(value.get("order")):
        kept["order"] = list(order)
    if state := _texts(value.get("state")):
        kept["state"] = list(state)
    if _is_text(value.get("fixture")):
        kept["fixture"] = value["fixture"]
    if (chance := _chance(value.get("random_orders"))) is not None:
        kept["random_orders"] = chance
    return kept


def _chance(value: Any) -> dict[str, Any] | None:
    """The share of random orders in which it fails, as a number from 0 to 1."""
    if not isinstance(value, dict):
        return None
    share, how, interval = _share(value.get("value")), value.get("how"), _list(value.get("interval"))
    if share is None:
        return None
    ends = [_share(end) for end in interval]
    known = {"value": share, "how": how if how in ("exact", "estimated") else "estimated"}
    return {**known, "interval": ends} if len(ends) == 2 and None not in ends else known


def _share(value: Any) -> float | None:
    """A number, or a fraction such as "1/2"."""
    if isinstance(value, str):
        above, _, below = value.partition("/")
        if not (above.isascii() and above.isdecimal() and below.isascii() and below.isdecimal() and int(below)):
            return None
        value = int(above) / int(below) if len(value) < 200 else None
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return float(value) if is_number and 0 <= value <= 1 else None


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _texts(value: Any) -> tuple[str, ...]:
    return tuple(filter(_is_text, _list(value)[:_MOST_TESTS]))


def _is_text(value: Any) -> bool:
    return isinstance(value, str) and 0 < len(value) <= _LONGEST_TEXT


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 10**9
