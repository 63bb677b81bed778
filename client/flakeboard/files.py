"""Which files a list of patterns means: each once, in the same order every time."""

from __future__ import annotations

import glob
import os
from typing import Iterable

from flakeboard.problems import Problem


def find(patterns: Iterable[str]) -> list[str]:
    """Files that match any of the patterns; `**` is any number of folders, a folder means its XML files."""
    found: dict[str, str] = {}
    for pattern in patterns:
        for path in sorted(matching(pattern)):
            found.setdefault(os.path.realpath(path), os.path.normpath(path))
    return sorted(found.values())


def matching(pattern: str) -> list[str]:
    """Files of one pattern. A file that is really named so wins over what the pattern would mean."""
    pattern = os.path.expanduser(pattern)
    if os.path.isfile(pattern):
        return [pattern]
    if os.path.isdir(pattern):
        pattern = os.path.join(glob.escape(pattern), "**", "*.xml")
    return [path for path in glob.glob(pattern, recursive=True) if os.path.isfile(path)]


def readable(paths: Iterable[str]) -> list[str]:
    """The same paths, if all can be read: half of the reports would be a lie."""
    checked = list(paths)
    for path in checked:
        if not os.access(path, os.R_OK):
            raise Problem(f"{path} cannot be read: permission denied.")
    return checked
