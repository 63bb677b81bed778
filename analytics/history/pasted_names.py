"""What people paste into a search: node ids of pytest, Java's and Ruby's names, lines of a runner and of the gate."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

_GATE_LINE = re.compile(r"(?:BLOCKS|passes)\s+\w+\s+(?P<name>.+?)(?:\s{2,}\(.*)?$")
_RUNNER_WORDS = r"\[?(?:FAILED|ERROR|PASSED|FAIL|PASS)\]?|ok|not ok|---\s\w+:|[✗✘✓✔×●]"
_RUNNER_LINE = re.compile(rf"(?:{_RUNNER_WORDS})\s+(?P<name>.+?)(?: - .*)?$")
_SEPARATORS = (" :: ", "::", "#", " › ", " > ", " » ")
_PARAMETERS = re.compile(r"(?<=.)\[.*\]$|(?<=.)\(.*\)$")
_LINE_NUMBER = re.compile(r":\d+(?:\s.*)?$")
_EXTENSION = re.compile(r"\.[a-z]{1,4}$")


@dataclass(frozen=True, slots=True)
class PastedName:
    name: str
    """What the test's own name must hold."""
    places: tuple[str, ...]
    """What its class, suite or file must hold, in small letters."""


def pasted_names(text: str) -> Iterator[PastedName]:
    """The names that a text may stand for, the most exact first."""
    line = _name_in(text.strip())
    for separator in _SEPARATORS:
        places, found, name = line.rpartition(separator)
        if found and name.strip():
            yield from _readings(name.strip(), re.split(f"{re.escape(separator)}|::|#", places))
    # a dot parts class and method, but not within parameters
    head = _PARAMETERS.sub("", line)
    place, dot, _ = head.rpartition(".")
    if dot and place and len(place) + 1 < len(line):
        yield from _readings(line[len(place) + 1 :], [place])
    if line != text.strip():
        yield from _readings(line, [])


def _name_in(text: str) -> str:
    """A runner's or the gate's line without what surrounds the test's name."""
    match = _GATE_LINE.match(text) or _RUNNER_LINE.match(text)
    return _LINE_NUMBER.sub("", match["name"].strip() if match else text)


def _readings(name: str, places: list[str]) -> Iterator[PastedName]:
    """With and without parameters; with whole places, and with their last parts alone."""
    whole = tuple(place.strip().lower() for place in places if place.strip())
    short = tuple(_last_part(place) for place in whole)
    bare = _PARAMETERS.sub("", name)
    for called in dict.fromkeys((name, bare)):
        yield PastedName(called, whole)
        if short != whole:
            yield PastedName(called, short)


def _last_part(place: str) -> str:
    """`tests/test_shop.py` -> `test_shop`, `com.shop.CartTest` -> `carttest`: what every producer keeps of a place."""
    return re.split(r"[/\\.]", _EXTENSION.sub("", place))[-1]
