"""Streaming JSON: values are read one by one, so that memory does not grow with the file."""

import re
from collections.abc import Callable, Iterator, Mapping
from json.decoder import JSONDecoder, scanstring  # type: ignore[attr-defined]
from typing import Any

from ingest.formats.json_templates import Alike
from ingest.formats.text import Damage, decoded
from ingest.junit.attachment_marks import mark_of
from ingest.junit.limits import Limits
from ingest.junit.problems import Refused, over_limit
from ingest.junit.report import ParsedReport

_BLANKS = " \t\r\n"
_BLANK = re.compile(r"[ \t\r\n]*+")
_STRING = re.compile(r'[^"\\]*+(?:\\.[^"\\]*+)*+"', re.DOTALL)
_NUMBER = re.compile(r"-?[0-9]{1,40}(?:\.[0-9]{1,40})?(?:[eE][+-]?[0-9]{1,4})?")
_SHORT = 6
"""Characters of a number that is in no way too long."""
_LITERAL = re.compile(r"true|false|null|NaN|-?Infinity")
_LITERALS: Mapping[str, Any] = {"true": True, "false": False}
_STRING_FACTOR = 4
"""How many times longer than an XML tag a string may be: it may hold captured output or attachments."""
_FAILED = re.compile(r"fail|error|broken|timed ?out|abort|unexpected|interrupt", re.IGNORECASE)
_OUTCOMES = frozenset({"status", "outcome", "result", "state", "action", "rawstatus"})
_WORTH = 8 * 1024
"""Characters for which a template is worth its making."""
_MARKS = 50
"""Files of one result that are noted."""


def _number(written: str) -> float:
    if len(written) > _SHORT and not _NUMBER.fullmatch(written):
        raise ValueError
    return float(written)


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError
    return found


_DECODER = JSONDecoder(
    object_pairs_hook=_object, parse_float=_number, parse_int=_number, parse_constant=_LITERALS.get, strict=False
)
"""Python's own, which reads what it accepts as the cursor does; what is written in an odd way, the cursor reads."""


class Cursor:
    """Reads JSON value by value: expected values are requested, others are skipped and checked for failures."""

    def __init__(self, chunks: Iterator[bytes], limits: Limits, report: ParsedReport) -> None:
        self._chunks = decoded(chunks, report)
        self._limits = limits
        self._text = ""
        self._at = 0
        self._depth = 0
        self._line = 1
        self._column = 0
        """Characters of the current line before the buffer."""
        self.twice: list[str] = []
        """Keys that occurred twice in one object."""
        self._whole_at = -1
        """Where the last object stands in the buffer, if it was read at once."""

    # -- the buffer --------------------------------------------------------------------------------------------

    def _more(self, least: int = 1) -> bool:
        """Read more text; returns False at the end."""
        self._whole_at = -1
        gone = self._text[: self._at]
        newlines = gone.count("\n")
        self._line += newlines
        self._column = len(gone) - gone.rfind("\n") - 1 if newlines else self._column + len(gone)
        parts, size = [self._text[self._at :]], 0
        self._at = 0
        for chunk in self._chunks:
            parts.append(chunk)
            size += len(chunk)
            if size >= least:
                break
        self._text = "".join(parts)
        return size > 0

    def damage(self, sentence: str) -> Damage:
        gone = self._text[: self._at]
        newlines = gone.count("\n")
        column = len(gone) - gone.rfind("\n") if newlines else self._column + len(gone) + 1
        return Damage(sentence, self._line + newlines, column)

    def _peek(self) -> str:
        """The next non-blank character; empty at the end."""
        if self._at < len(self._text) and (found := self._text[self._at]) not in _BLANKS:
            return found
        while True:
            match = _BLANK.match(self._text, self._at)
            assert match is not None
            self._at = match.end()
            if self._at < len(self._text):
                return self._text[self._at]
            if not self._more():
                return ""

    def _take(self, wanted: str) -> None:
        found = self._peek()
        if found != wanted:
            raise self.damage(f"{wanted!r} is expected" if found else "The file ends early")
        self._at += 1

    # -- values ------------------------------------------------------------------------------------------------

    def _string(self) -> str:
        self._take('"')
        end = self._text.find('"', self._at)
        if end >= 0 and "\\" not in (written := self._text[self._at : end]):
            self._at = end + 1
            return written
        while (match := _STRING.match(self._text, self._at)) is None:
            size = len(self._text) - self._at
            if size > self._limits.markup * _STRING_FACTOR:
                raise over_limit("markup", self._limits.markup * _STRING_FACTOR, "One string is too long")
            if not self._more(size):
                raise self.damage("The file ends inside a string")
        start, self._at = self._at, match.end()
        if "\\" not in match[0]:
            return match[0][:-1]
        try:
            return str(scanstring(self._text, start, False)[0])
        except ValueError:
            raise self.damage("A string has an invalid escape") from None

    def _plain(self) -> Any:
        if len(self._text) - self._at < 128:
            self._more(128)
        for pattern in (_LITERAL, _NUMBER):
            if match := pattern.match(self._text, self._at):
                self._at = match.end()
                written = match[0]
                return float(written) if pattern is _NUMBER else _LITERALS.get(written)
        raise self.damage("A value is expected")

    def _enter(self) -> None:
        self._depth += 1
        if self._depth > self._limits.depth:
            raise Refused("too_deep", f"Values are nested too deep: the limit is {self._limits.depth} (LIMIT_DEPTH).")

    def keys(self) -> Iterator[str]:
        """The keys of an object; the caller reads each value. Empty if it is not an object."""
        if self._peek() != "{":
            self.skip()
            return
        self._enter()
        self._at += 1
        seen: set[str] = set()
        while self._peek() != "}":
            if seen:
                self._take(",")
                self._peek()
            key = self._string()
            if key in seen and len(self.twice) < 10:
                self.twice.append(key)
            seen.add(key)
            if len(seen) > self._limits.cases:
                raise over_limit("cases", self._limits.cases, "An object has too many keys")
            self._take(":")
            yield key
        self._at += 1
        self._depth -= 1

    def items(self) -> Iterator[None]:
        """Yields once for each item of an array; the caller reads it. Empty if it is not an array."""
        if self._peek() != "[":
            self.skip()
            return
        self._enter()
        self._at += 1
        first = True
        while self._peek() != "]":
            if not first:
                self._take(",")
            first = False
            yield
        self._at += 1
        self._depth -= 1

    def value(self, budget: "Budget | None" = None) -> Any:
        """A whole value as a Python object, within the budget."""
        start = self._peek()
        self._whole_at = -1
        if start == "{" and budget is None and (whole := self._at_once()) is not None:
            return whole
        budget = budget or Budget(self._limits)
        if start == "{":
            found = {}
            for key in self.keys():
                found[key] = self.value(budget)
                budget.spend(len(key))
            return found
        if start == "[":
            listed = []
            for _ in self.items():
                listed.append(self.value(budget))
                budget.spend(1)
            return listed
        if start == '"':
            text = self._string()
            budget.spend(min(len(text), self._limits.text_kept))
            return text if len(text) <= self._limits.text_kept else f"{text[: self._limits.text_kept]}\n[… cut …]"
        return self._plain()

    def _at_once(self) -> dict[str, Any] | None:
        """The next object, if the buffer holds all of it and it is too small for any limit; else None."""
        try:
            found, end = _DECODER.raw_decode(self._text, self._at)
        except (ValueError, RecursionError):
            return None
        size = end - self._at
        opened = self._text.count("{", self._at, end) + self._text.count("[", self._at, end)
        if size > self._limits.text_kept or 2 * size > self._limits.markup or self._depth + opened > self._limits.depth:
            return None
        self._whole_at, self._at = self._at, end
        return found  # type: ignore[no-any-return]

    def learn(self, alike: Alike, sample: dict[str, Any]) -> None:
        """Offer the object that was read last, if more may follow."""
        if self._whole_at >= 0 and len(self._text) - self._at > _WORTH:
            longest = min(self._limits.text_kept, self._limits.markup // 2)
            alike.learn(self._text[self._whole_at : self._at], sample, longest)

    def alike(self, alike: Alike) -> dict[str, list[str]]:
        """The wanted values of the next items that are written alike; nothing if the next one is not."""
        if alike.template is None or self._depth + alike.template.opened > self._limits.depth:
            return {}
        columns, self._at = alike.columns(self._text, self._at)
        return columns

    def skip(self) -> bool:
        """Skip a value; returns whether it mentions a failure."""
        start, found = self._peek(), False
        if start == "{":
            for key in self.keys():
                outcome = key.lower() in _OUTCOMES and self._peek() == '"'
                found |= bool(_FAILED.match(self._string())) if outcome else self.skip()
        elif start == "[":
            for _ in self.items():
                found |= self.skip()
        elif start == '"':
            self._string()
        else:
            self._plain()
        return found

    def read(self, known: Mapping[str, Callable[[], object]], tell: Callable[[str, str], None], what: str) -> set[str]:
        """Read an object with a reader for each known key; report an unknown value that mentions a failure.

        Returns the keys found."""
        there: set[str] = set()
        if self._peek() != "{":
            tell("unknown_value", f"{what} is not an object.")
        for key in self.keys():
            there.add(key)
            if reader := known.get(key):
                reader()
            elif self.skip():
                tell("unknown_key", f"The key {key[:60]!r} of {what} is not known, and tells of a failure.")
        for key in self.twice:
            tell("key_twice", f"The key {key[:60]!r} stands twice in one object: which one counts is not known.")
        self.twice = []
        return there

    def end(self) -> None:
        """Check that nothing follows."""
        if self._peek():
            sentence = "The file goes on after its end: two documents in one file? Send each as a file of its own."
            damage = self.damage(sentence)
            raise Refused("two_roots", sentence, damage.line, damage.column)


class Budget:
    """The characters and nested values that one value may have."""

    def __init__(self, limits: Limits) -> None:
        self._limit = self._left = limits.markup

    def spend(self, size: int) -> None:
        self._left -= size + 1
        if self._left < 0:
            raise over_limit("markup", self._limit, "One test has too much to tell")


def text_in(value: object) -> str:
    """A value if it is a string, else empty."""
    return value if isinstance(value, str) else ""


def number_in(value: object) -> float | None:
    """A value if it is a finite number, else None."""
    if isinstance(value, (int, float)) and not isinstance(value, bool) and value == value and abs(value) < 1e18:
        return float(value)
    return None


def line_in(value: object) -> str:
    """The number of a line in a file; empty if it is none."""
    line = number_in(value)
    return str(int(line)) if line is not None and 0 <= line < 1e9 else ""


def list_in(value: object) -> list[Any]:
    return value if isinstance(value, list) else []


def object_in(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def seconds_in(milliseconds: object) -> str:
    """Milliseconds as JUnit writes a duration; unchanged if it is not a number, so that it is reported."""
    value = number_in(milliseconds)
    if value is None:
        return "" if milliseconds is None else str(milliseconds)[:40]
    return repr(value / 1_000)


def all_seconds(milliseconds: list[str]) -> list[str]:
    """The same for numbers as they are written."""
    seconds = {written: seconds_in(float(written)) for written in set(milliseconds)}
    return [seconds[written] for written in milliseconds]


def all_lines(written: list[str]) -> list[str]:
    return [line_in(float(line)) for line in written]


def with_marks(output: str, attachments: Any) -> str:
    """A test's output, with a mark for each file that its result lists."""
    paths = (text_in(object_in(entry).get("path")) for entry in list_in(attachments)[:_MARKS])
    return "\n".join(filter(None, (output, *(mark_of(path) for path in paths if path))))
