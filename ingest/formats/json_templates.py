"""Templates of JSON objects: how a report writes a test of which many follow each other, learnt from one of them.

A text that matches has the same keys in the same order and the same values, but for strings and numbers that are not
fixed; some of these are wanted."""

import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any

_TOKEN = re.compile(
    r'(?P<blank>[ \t\r\n]++)|(?P<mark>[{}\[\],:]|true|false|null)|"(?P<text>[^"\\\x00-\x1f]*+)"(?P<key>[ \t\r\n]*+:)?+'
    r"|(?P<number>[0-9.eE+-]++)"
)
_TEXT = r"[^\"\\\x00-\x1f\ufffe\uffff]{0,1000}+"
_NUMBER = r"(?:0|[1-9][0-9]{0,11}+)(?:\.[0-9]{1,12}+)?+"
_ITEM = "[]"
"""Stands for an item of a list in a path."""
_LONGEST_VALUE = 1_000
_MOST_VALUES = 40
_SHORT_RUN, _LONGEST_WAIT = 8, 1_000
_BLANK = r"[ \t\r\n]*+"


class Template:
    def __init__(self, sample: str, wanted: Mapping[str, type], fixed: frozenset[str]) -> None:
        """Takes the paths of wanted values with their types, and keys whose values are the same in all objects.

        Raises ValueError if a wanted value has another type or stands twice, as in a list."""
        self.names: list[str] = []
        """The wanted values that there are, in their order."""
        self._values = 0
        pattern = "".join(self._pieces(sample, wanted, fixed))
        if len(set(self.names)) < len(self.names) or self._values > _MOST_VALUES:
            raise ValueError
        self.opened = sample.count("{") + sample.count("[")
        self.longest = len(sample) + self._values * _LONGEST_VALUE
        self._whole, self._each = _compiled(rf"{_BLANK},{_BLANK}{pattern}")

    def _pieces(self, sample: str, wanted: Mapping[str, type], fixed: frozenset[str]) -> Iterator[str]:
        outer: list[str] = []
        lists: list[bool] = []
        key, at = "", 0
        while at < len(sample):
            token = _TOKEN.match(sample, at)
            if token is None:
                raise ValueError
            at, mark = token.end(), token["mark"]
            path = ".".join([*outer[1:], key])
            if token["blank"] or mark or token["key"] or key in fixed or path in fixed:
                yield re.escape(token[0])
            else:
                yield self._value(token, path, wanted)
            if token["blank"]:
                continue
            if mark in ("{", "["):
                outer.append(key)
                lists.append(mark == "[")
            elif mark in ("}", "]"):
                outer.pop()
                lists.pop()
            key = token["text"] if token["key"] else _ITEM if lists and lists[-1] else ""

    def _value(self, token: re.Match[str], path: str, wanted: Mapping[str, type]) -> str:
        self._values += 1
        kind, pattern, quote = (float, _NUMBER, "") if token["text"] is None else (str, _TEXT, '"')
        if path not in wanted:
            return quote + pattern + quote
        if wanted[path] is not kind:
            raise ValueError
        self.names.append(path)
        return f"{quote}({pattern}){quote}"

    def columns(self, text: str, at: int) -> tuple[dict[str, list[str]], int]:
        """The wanted values of all objects that follow a comma from `at` on, and where the next thing stands."""
        found = self._whole.match(text, at)
        if found is None:
            return {}, at
        columns = zip(*self._each.findall(text, at, found.end()), strict=True)
        return dict(zip([*self.names, ""], map(list, columns), strict=True)), found.end()


@lru_cache(64)
def _compiled(pattern: str) -> tuple[re.Pattern[str], re.Pattern[str]]:
    """Patterns for objects that follow each other, and for each; an empty group makes each of them a tuple."""
    return re.compile(f"(?:{pattern})++"), re.compile(f"{pattern}()")


class Alike:
    """Objects that follow each other and are written alike: the template of one of them."""

    def __init__(self, wanted: Mapping[str, type], fixed: frozenset[str]) -> None:
        self._wanted, self._fixed = wanted, fixed
        self._offered, self._next = 0, 1
        self._wait = self._waited = 0
        """Objects to read one by one after a template matched few; doubles each time."""
        self.template: Template | None = None
        self.sample: Mapping[str, Any] = {}

    def learn(self, written: str, sample: Mapping[str, Any], longest: int) -> None:
        """Make a template of an object as it is written. Fewer and fewer are made, since each takes a while."""
        self._offered += 1
        if self._offered < self._next:
            return
        try:
            template = Template(written, self._wanted, self._fixed)
        except ValueError:
            return
        if template.longest <= longest:
            self._next = 2 * self._offered
            self.template, self.sample = template, sample

    def columns(self, text: str, at: int) -> tuple[dict[str, list[str]], int]:
        """Those of the template, unless it is likely to match few."""
        if self._wait:
            self._wait -= 1
        if self.template is None or self._wait:
            return {}, at
        columns, end = self.template.columns(text, at)
        is_long = len(columns.get("", ())) >= _SHORT_RUN
        self._wait = self._waited = 0 if is_long else min(2 * self._waited + 1, _LONGEST_WAIT)
        return columns, end
