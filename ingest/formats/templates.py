"""Templates: how a document writes an element of which many follow each other, learnt from one of them.

Everything but the values of attributes is fixed: a text that matches has the same tags in the same order."""

import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import NamedTuple

from ingest.junit.lane import has_noncharacter, unescaped
from ingest.verdict import Verdict

_NAME = r"[A-Za-z_][A-Za-z0-9_.-]{0,99}+"
_BLANK = r"[ \t\r\n]"
_TAG = re.compile(rf"<(/?)({_NAME})((?:{_BLANK}++{_NAME}=(?:\"[^\"<]*+\"|'[^'<]*+'))*+){_BLANK}*+(/?)>")
_ATTRIBUTE = re.compile(rf"({_NAME})=([\"'])(.*?)\2", re.DOTALL)
_BETWEEN = rf"{_BLANK}*+(?:<!--[^-<\x00-\x1f]{{0,999}}+-->{_BLANK}*+)?+"
"""TestNG writes a comment behind each method; one without a tag tells nothing."""
_MOST_PATTERNS = 64


class _Tag(NamedTuple):
    name: str
    attributes: tuple[str, ...]
    """Those whose values may differ."""
    same: Mapping[str, str]
    """Those with one value in all of a run."""
    is_start: bool
    is_end: bool


class Template:
    """The tags of an element, and a pattern for texts with the same tags."""

    def __init__(self, sample: str, fixed: frozenset[str]) -> None:
        """Raises ValueError if the sample is more than tags and blanks, or names something twice."""
        self.tags: list[_Tag] = []
        self.inside: list[tuple[str, str]] = []
        """Each element but the outermost one, behind the one that it is in."""
        self.spaced: set[str] = set()
        """Elements that begin with a blank."""
        self.depth = 0
        self._pattern = _BETWEEN + "".join(self._pieces(sample, fixed))
        names = [tag.name for tag in self.tags if tag.is_start]
        if len(set(names)) < len(names):
            raise ValueError
        self.columns = [(tag.name, name) for tag in self.tags for name in tag.attributes]
        """Element and attribute of each value that may differ."""
        self.same = {(tag.name, name): value for tag in self.tags for name, value in tag.same.items()}

    def _pieces(self, sample: str, fixed: frozenset[str]) -> Iterator[str]:
        outer: list[str] = []
        at = 0
        while at < len(sample):
            found = _TAG.match(sample, at)
            if found is None or (at and not outer):
                raise ValueError
            tag, pattern = _tag(found, fixed)
            if tag.is_start:
                self.inside += [(outer[-1], tag.name)] if outer else []
                outer.append(tag.name)
                self.depth = max(self.depth, len(outer))
            if tag.is_end and outer.pop() != tag.name:
                raise ValueError
            self.tags.append(tag)
            yield pattern
            rest = sample[found.end() :].lstrip(" \t\r\n")
            at = len(sample) - len(rest)
            if at > found.end():
                yield f"{_BLANK}++"
                self.spaced |= set() if tag.is_end else {tag.name}
        if outer:
            raise ValueError

    def run(self, data: bytes, at: int) -> "Run | None":
        """The elements from `at` on that match."""
        whole, each = _compiled(self._pattern)
        found = whole.match(data, at)
        if found is None:
            return None
        text = found[0].decode("utf-8")
        if has_noncharacter(text):
            return None
        columns = list(map(list, zip(*each.findall(text), strict=True)))
        if "&" in text:
            columns = [list(map(unescaped, column)) for column in columns]
        return Run(self, columns, found.end())


class Run:
    """Elements of one template that follow each other: a column of values for each attribute."""

    def __init__(self, template: Template, columns: list[list[str]], end: int) -> None:
        self.name = template.tags[0].name
        self.elements = {tag.name for tag in template.tags}
        self.same = template.same
        """Values that all of them have, by element and attribute."""
        self.end = end
        """Where the next thing stands in the data."""
        self.count = len(columns[0])
        self._tags, self._columns = template.tags, columns
        self._values = dict(zip(template.columns, columns[:-1], strict=True))

    def column(self, element: str, attribute: str) -> list[str]:
        """The attribute's values; empty ones if it is missing."""
        at = element, attribute
        return self._values[at] if at in self._values else [self.same.get(at, "")] * self.count

    def has(self, element: str, attribute: str) -> bool:
        return (element, attribute) in self._values or (element, attribute) in self.same

    def passes(self, element: str, attribute: str, words: Mapping[str, Verdict]) -> bool:
        """Whether the word that all of them have means a pass."""
        return words.get(self.same.get((element, attribute), "").strip().lower()) is Verdict.PASS

    def tags(self) -> Iterator[tuple[str, dict[str, str] | None]]:
        """Each tag with its attributes; None for an end."""
        for values in zip(*self._columns, strict=True):
            left = iter(values)
            for tag in self._tags:
                if tag.is_start:
                    yield tag.name, {**dict(zip(tag.attributes, left)), **tag.same}  # noqa: B905
                if tag.is_end:
                    yield tag.name, None


def _tag(found: re.Match[str], fixed: frozenset[str]) -> tuple[_Tag, str]:
    """A tag, and a pattern for it with a group for each value that may differ."""
    pattern, at = "", 0
    variable: list[str] = []
    same: dict[str, str] = {}
    for written in _ATTRIBUTE.finditer(found[0]):
        name, value, quote = written[1], written[3], written[2]
        if name in fixed:
            same[name] = value
        else:
            variable.append(name)
        group = re.escape(value) if name in fixed else f"({_values(quote)})"
        pattern += re.escape(found[0][at : written.start(3)]) + group
        at = written.end(3)
    if len({*variable, *same}) < len(variable) + len(same) or "xmlns" in variable or "&" in "".join(same.values()):
        raise ValueError
    is_end = bool(found[1] or found[4])
    tag = _Tag(found[2], tuple(variable), same, is_start=not found[1], is_end=is_end)
    return tag, pattern + re.escape(found[0][at:])


def _values(quote: str) -> str:
    """A pattern for values. XML forbids most control characters and reads the others as spaces: the parser does."""
    plain = rf"[^{quote}<&\x00-\x1f]{{0,4000}}+"
    return f"{plain}(?:&(?:amp|lt|gt|quot|apos);{plain}){{0,9}}+"


@lru_cache(_MOST_PATTERNS)
def _compiled(pattern: str) -> tuple[re.Pattern[bytes], re.Pattern[str]]:
    """Patterns for a run of elements, and for each of them; the last group is an empty one, so that there are two."""
    without_groups = pattern.replace("([^", "(?:[^")
    return re.compile(f"(?:{without_groups})++".encode()), re.compile(f"{pattern}()")
