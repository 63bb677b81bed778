"""Who owns a test: by somebody's word, by patterns of suite and class, or by the repository's CODEOWNERS. Pure.

Paths are matched by the package `codeowners`. GitLab's sections, which it reads in part, are split here: each section
is a file of its own, with the default owners of its heading written out."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase

from codeowners import CodeOwners

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
_HEADING = re.compile(r"\^?\[([^\]]{1,200})\](?:\[[0-9]{1,6}\])?((?:\s+\S+)*)")
_COMMENT = re.compile(r"(?:^|\s)#.*")


class BadOwners(Exception):
    """A CODEOWNERS file that cannot be read: the sentence names the line."""

    def __init__(self, sentence: str) -> None:
        self.sentence = sentence
        super().__init__(sentence)


@dataclass(frozen=True, slots=True)
class Pattern:
    field: str
    """suite or classname."""
    pattern: str
    owner: str


@dataclass(frozen=True, slots=True)
class Names:
    """What is known of a test."""

    number: int
    suite: str = ""
    classname: str = ""
    file: str = ""


@dataclass(frozen=True, slots=True)
class _Section:
    owners: CodeOwners
    excluded: CodeOwners | None


class CodeOwnersBook:
    """A CODEOWNERS file."""

    def __init__(self, text: str, syntax: str = GITHUB) -> None:
        if len(text.encode()) > _MOST_BYTES or text.count("\n") > _MOST_LINES:
            raise BadOwners(f"CODEOWNERS has at most {_MOST_BYTES:,} bytes and {_MOST_LINES:,} lines.")
        lines = _lines(text)
        parts = _sections(lines) if syntax == GITLAB else [lines]
        self._sections = [_section(part, gitlab=syntax == GITLAB) for part in parts]

    def owners(self, path: str) -> list[str]:
        """Owners of a file: the last matching line's, of every section where there are such."""
        path = path.replace("\\", "/").removeprefix("./").lstrip("/")
        found = [owner for section in self._sections for owner in _of(section, path)] if _usable(path) else []
        return list(dict.fromkeys(found))


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


def _section(lines: Sequence[_Line], *, gitlab: bool) -> _Section:
    excluded = [(number, line[1:]) for number, line in lines if gitlab and line.startswith("!")]
    kept = [one for one in lines if not (gitlab and one[1].startswith("!"))]
    return _Section(_parsed(kept), _parsed(excluded) if excluded else None)


def _parsed(lines: Sequence[_Line]) -> CodeOwners:
    for number, line in lines:
        if line.count("**") > _MOST_FOLDERS or any(part.count("*") > _MOST_STARS for part in line.split("/")):
            sentence = f"a pattern has at most {_MOST_FOLDERS} times ** and {_MOST_STARS} times * between two slashes."
            raise BadOwners(f"CODEOWNERS, line {number}: {sentence}")
        try:
            CodeOwners(line)
        except (ValueError, IndexError, re.error) as error:
            raise BadOwners(f"CODEOWNERS, line {number} cannot be read: {error}.") from error
    return CodeOwners("\n".join(line for _, line in lines))


def _of(section: _Section, path: str) -> list[str]:
    if section.excluded is not None and section.excluded.matching_line(path)[1] is not None:
        return []
    return [name for _, name in section.owners.of(path)]


@dataclass(frozen=True, slots=True)
class OwnerBook:
    """All that says who owns what; what is said by hand comes first, then patterns, then CODEOWNERS."""

    by_hand: Mapping[int, str] = field(default_factory=dict)
    patterns: Sequence[Pattern] = ()
    code_owners: CodeOwnersBook | None = None

    def owner(self, test: Names) -> str:
        """The owner's name; several of one line as one text; empty for nobody."""
        if test.number in self.by_hand:
            return self.by_hand[test.number]
        for one in self.patterns:
            value = test.suite if one.field == "suite" else test.classname
            if value and fnmatchcase(value, one.pattern):
                return one.owner
        owners = self.code_owners.owners(test.file) if self.code_owners and test.file else []
        return _joined(owners)


def _joined(owners: Sequence[str]) -> str:
    told = ""
    for owner in owners:
        longer = f"{told} {owner}".strip()
        if len(longer) > _LONGEST_OWNER:
            break
        told = longer
    return told
