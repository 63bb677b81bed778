"""Who owns a test: by somebody's word, by patterns of suite and class, or by the repository's CODEOWNERS. Pure.

GitLab's sections are split: each is a file of its own, with the default owners of its heading written out."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase

from dashboard.quarantine.owners.path_patterns import PathPatterns
from ingest.identity import TestName

GITHUB, GITLAB = "github", "gitlab"
_MOST_BYTES = 1_000_000
_MOST_LINES = 20_000
_MOST_FOLDERS = 3
_MOST_STARS = 3
"""More `**` in a pattern, or `*` between two slashes, make matching slow, and nobody needs them."""
_LONGEST_PATH = 400
_DEEPEST_PATH = 50
_LONGEST_PART = 128
"""A path that is longer or deeper, or a part of which is, is nobody's."""
_LONGEST_OWNER = 255
_KNOWN_PATHS = 100_000
"""Paths whose lines are kept: the next report brings few new ones."""
_HEADING = re.compile(r"\^?\[([^\]]{1,200})\](?:\[[0-9]{1,6}\])?((?:\s+\S+)*)")
_COMMENT = re.compile(r"(?:^|\s)#.*")
_OWNER = re.compile(r"@\S+|[^\s@]\S*@\S+")


@dataclass(frozen=True, slots=True)
class Wrong:
    """A line that cannot be read, and why."""

    line: int
    sentence: str


class BadOwners(Exception):
    """A CODEOWNERS file that cannot be read: the sentence names the first line that is wrong, `wrong` has them all."""

    def __init__(self, sentence: str, wrong: Sequence[Wrong] = ()) -> None:
        self.sentence = sentence
        self.wrong = tuple(wrong)
        super().__init__(sentence)


@dataclass(frozen=True, slots=True)
class Pattern:
    field: str
    """suite or classname."""
    pattern: str
    owner: str


@dataclass(frozen=True, slots=True)
class Line:
    """A line that names owners of paths."""

    number: int
    path: str
    owners: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Section:
    patterns: PathPatterns
    excluded: PathPatterns
    lines: tuple[Line, ...]

    def of(self, path: str) -> Line | None:
        """The last line that matches."""
        if self.excluded.last(path) is not None:
            return None
        place = self.patterns.last(path)
        return None if place is None else self.lines[place]


class CodeOwnersBook:
    """A CODEOWNERS file."""

    def __init__(self, text: str, syntax: str = GITHUB) -> None:
        if len(text.encode()) > _MOST_BYTES or text.count("\n") > _MOST_LINES:
            raise BadOwners(f"CODEOWNERS has at most {_MOST_BYTES:,} bytes and {_MOST_LINES:,} lines.")
        lines, gitlab = _lines(text), syntax == GITLAB
        parts = _sections(lines) if gitlab else [lines]
        wrong = sorted(
            (mistake for part in parts for mistake in _wrong(part, gitlab=gitlab)), key=lambda mistake: mistake.line
        )
        if wrong:
            raise BadOwners(f"CODEOWNERS, line {wrong[0].line}: {wrong[0].sentence}", wrong)
        self._sections = [_section(part, gitlab=gitlab) for part in parts]
        self._known: dict[str, list[Line]] = {}

    @property
    def lines(self) -> list[Line]:
        """As they stand in the file."""
        return sorted((line for section in self._sections for line in section.lines), key=lambda line: line.number)

    def matching(self, path: str) -> list[Line]:
        """The last matching line, of every section where there are such."""
        path = path.replace("\\", "/").removeprefix("./").lstrip("/")
        if path not in self._known and _usable(path):
            if len(self._known) >= _KNOWN_PATHS:
                self._known.clear()
            found = (section.of(path) for section in self._sections)
            self._known[path] = [line for line in found if line is not None]
        return self._known.get(path, [])

    def owners(self, path: str) -> list[str]:
        """Owners of a file."""
        return list(dict.fromkeys(owner for line in self.matching(path) for owner in line.owners))


def _usable(path: str) -> bool:
    if not 0 < len(path) <= _LONGEST_PATH:
        return False
    parts = path.split("/")
    return len(parts) <= _DEEPEST_PATH and all(len(part) <= _LONGEST_PART for part in parts)


_Line = tuple[int, str]


def _lines(text: str) -> list[_Line]:
    """Numbered, without comments; a hash can be part of a path where it is written \\#."""
    stripped = ((number, _COMMENT.sub("", line).strip()) for number, line in enumerate(text.splitlines(), start=1))
    return [(number, line) for number, line in stripped if line]


def _sections(lines: Sequence[_Line]) -> list[list[_Line]]:
    """GitLab's sections by name, those of one name joined; lines without owners have those of the heading."""
    sections: dict[str, list[_Line]] = {"": []}
    name, defaults = "", ""
    for number, line in lines:
        heading = _HEADING.fullmatch(line)
        if heading:
            name, defaults = heading[1].strip().lower(), heading[2].strip()
            sections.setdefault(name, [])
            continue
        bare = len(line.replace("\\ ", "_").split()) == 1
        sections[name].append((number, f"{line} {defaults}".strip() if bare else line))
    return list(sections.values())


def _wrong(lines: Sequence[_Line], *, gitlab: bool) -> Iterator[Wrong]:
    for number, line in lines:
        if line.count("**") > _MOST_FOLDERS or any(part.count("*") > _MOST_STARS for part in line.split("/")):
            sentence = f"a pattern has at most {_MOST_FOLDERS} times ** and {_MOST_STARS} times * between two slashes."
            yield Wrong(number, sentence)
            continue
        try:
            PathPatterns([_rule(line.removeprefix("!") if gitlab else line)[0]])
        except (ValueError, re.error) as error:
            yield Wrong(number, f"it cannot be read: {error}.")


def _section(lines: Sequence[_Line], *, gitlab: bool) -> _Section:
    excluded = [_rule(line[1:])[0] for _, line in lines if gitlab and line.startswith("!")]
    kept = [(number, *_rule(line)) for number, line in lines if not (gitlab and line.startswith("!"))]
    every = tuple(Line(number, path, owners) for number, path, owners in kept)
    try:
        return _Section(PathPatterns([line.path for line in every]), PathPatterns(excluded), every)
    except ValueError as error:
        raise BadOwners(f"CODEOWNERS has {error}.") from error


def _rule(line: str) -> tuple[str, tuple[str, ...]]:
    """The pattern and the owners of a line. A blank in a path is written with a backslash before it."""
    path, *others = re.split(r"(?<!\\)\s+", line)
    return path, tuple(name for name in others if _OWNER.fullmatch(name))


@dataclass(frozen=True, slots=True)
class OwnerAnswer:
    """Who owns a test, and what says so."""

    owner: str = ""
    """Several of one line as one text; empty for nobody."""
    by: str = ""
    """hand, pattern or file."""
    places: tuple[int, ...] = ()
    """Which pattern, from 0, or which lines of the file."""


NOBODY = OwnerAnswer()


@dataclass(frozen=True, slots=True)
class OwnerBook:
    """All that says who owns what; what is said by hand comes first, then patterns, then CODEOWNERS."""

    by_hand: Mapping[int, str] = field(default_factory=dict)
    patterns: Sequence[Pattern] = ()
    code_owners: CodeOwnersBook | None = None

    def ruled(self, test: TestName) -> OwnerAnswer:
        if test.number in self.by_hand:
            return OwnerAnswer(self.by_hand[test.number], "hand")
        for place, pattern in enumerate(self.patterns):
            value = test.suite if pattern.field == "suite" else test.classname
            if value and fnmatchcase(value, pattern.pattern):
                return OwnerAnswer(pattern.owner, "pattern", (place,))
        lines = self.code_owners.matching(test.file) if self.code_owners and test.file else []
        owner = _joined(list(dict.fromkeys(owner for line in lines for owner in line.owners)))
        return OwnerAnswer(owner, "file", tuple(line.number for line in lines)) if owner else NOBODY

    def owner(self, test: TestName) -> str:
        """The owner's name; empty for nobody."""
        return self.ruled(test).owner

    @property
    def names(self) -> list[str]:
        """Everybody who is named anywhere."""
        lines = self.code_owners.lines if self.code_owners else []
        owners = [*self.by_hand.values(), *(pattern.owner for pattern in self.patterns)]
        return sorted({*owners, *(owner for line in lines for owner in line.owners)})


def _joined(owners: Sequence[str]) -> str:
    names = ""
    for owner in owners:
        longer = f"{names} {owner}".strip()
        if len(longer) > _LONGEST_OWNER:
            break
        names = longer
    return names
