"""Which pattern of a CODEOWNERS file is the last that matches a path. Pure.

Patterns without wildcards are looked up, so that their number costs nothing. Those with wildcards become regular
expressions that never come back to a `*` or `**` once what follows it was found: for a glob the first place where that
stands is as good as any later one, and so time is linear."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

MOST_WILD = 2_000
"""Patterns with wildcards in a file: each is asked for each path."""
_FOLDERS = "(?:[^/]*+/)*?"
_END = r"(?=/|\Z)"
_WILD = re.compile(r"(?<!\\)[*?\[]")


@dataclass(slots=True)
class _Names:
    """Patterns without wildcards: text -> the last line that has it, for files and folders, or for folders alone."""

    any: dict[str, int] = field(default_factory=dict)
    folders: dict[str, int] = field(default_factory=dict)

    def add(self, text: str, place: int, *, folder: bool) -> None:
        (self.folders if folder else self.any)[text] = place

    def last(self, text: str, *, is_file: bool) -> int:
        return max(self.any.get(text, -1), -1 if is_file else self.folders.get(text, -1))


class PathPatterns:
    """The patterns of a file, in its order; ValueError for one that cannot be read."""

    def __init__(self, patterns: Sequence[str]) -> None:
        self._paths, self._names = _Names(), _Names()
        self._wild: list[tuple[int, re.Pattern[str]]] = []
        for place, pattern in enumerate(patterns):
            self._add(place, pattern)

    def _add(self, place: int, pattern: str) -> None:
        if _WILD.search(pattern):
            if len(self._wild) == MOST_WILD:
                raise ValueError(f"more than {MOST_WILD:,} patterns with wildcards")
            self._wild.append((place, expression(pattern)))
            return
        text = re.sub(r"\\(.)", r"\1", pattern.strip("/"))
        if text:
            names = self._paths if _is_anchored(pattern) else self._names
            names.add(text, place, folder=pattern.endswith("/"))

    def last(self, path: str) -> int | None:
        """The place of the last pattern that matches."""
        best = max((found for found in self._found_by_name(path)), default=-1)
        for place, pattern in reversed(self._wild):
            if place < best:
                break
            if pattern.match(path):
                return place
        return best if best >= 0 else None

    def _found_by_name(self, path: str) -> Iterator[int]:
        before = ""
        parts = path.split("/")
        for number, part in enumerate(parts, start=1):
            before = f"{before}/{part}" if before else part
            is_file = number == len(parts)
            yield self._paths.last(before, is_file=is_file)
            yield self._names.last(part, is_file=is_file)


def _is_anchored(pattern: str) -> bool:
    """Whether it begins at the root: it has a slash other than at its end."""
    return "/" in pattern[:-1]


def expression(pattern: str) -> "re.Pattern[str]":
    """To be matched with a path from its beginning."""
    parts = _parts(pattern.strip("/"))
    if not _is_anchored(pattern) and parts != ["**"]:
        parts = ["**", *parts]
    open_end = parts[-1] == "**"
    last_alone = pattern.endswith("/*")
    ending = r"\Z" if last_alone else "/" if pattern.endswith("/") else ""
    if open_end:
        ending = "[^/]*+/" if ending == "/" else ""
    runs = _runs(parts[:-1] if open_end else parts)
    written = [_run(run, number, number == len(runs) - 1, last_alone) for number, run in enumerate(runs)]
    return re.compile("/".join(part for part in written if part) + ("/" if open_end and any(runs) else "") + ending)


def _run(run: list[str], number: int, is_last: bool, last_alone: bool) -> str:
    """Parts in a row; those behind a `**` are looked for, and kept where they are first found."""
    if not run:
        return ""
    text = "/".join(map(_part, run))
    if number == 0:
        return text
    held = "(?:" if is_last and last_alone else "(?>"
    return f"{held}{_FOLDERS}{text})"


def _runs(parts: Sequence[str]) -> list[list[str]]:
    """What stands between the `**`; the first run is empty where the pattern begins with one."""
    runs: list[list[str]] = [[]]
    for part in parts:
        if part != "**":
            runs[-1].append(part)
        elif runs[-1] or len(runs) == 1:
            runs.append([])
    return runs if runs[-1] or len(runs) == 1 else runs[:-1]


def _parts(pattern: str) -> list[str]:
    """Between slashes; one in brackets would be part of a name."""
    parts = pattern.split("/")
    if any(part.count("[") > part.count("]") for part in parts):
        raise ValueError(f"unterminated character class in pattern {pattern}")
    return parts


def _part(part: str) -> str:
    first, *others = _pieces(part)
    if not others:
        return first + _END
    middle = "".join(f"(?>[^/]*?{piece})" for piece in others[:-1] if piece)
    last = f"(?>[^/]*{others[-1]}{_END})" if others[-1] else "[^/]*+"
    return first + middle + last


def _pieces(part: str) -> list[str]:
    """What stands between the stars, as regular expressions of one length each."""
    pieces, at = [""], 0
    while at < len(part):
        letter = part[at]
        if letter == "*":
            pieces.append("")
        elif letter == "?":
            pieces[-1] += "[^/]"
        elif letter == "[":
            end = part.index("]", at)
            pieces[-1] += f"[{_class(part[at + 1 : end])}]"
            at = end
        else:
            at += letter == "\\" and at + 1 < len(part)
            pieces[-1] += re.escape(part[at])
        at += 1
    return pieces


def _class(letters: str) -> str:
    return re.sub(r"([\\\[\]^&~|])", r"\\\1", letters)
