"""The files that a list of patterns matches: each once, always in the same order."""

from __future__ import annotations

import glob
import os
from typing import Iterable


def find(patterns: Iterable[str]) -> list[str]:
    """Files that match any of the patterns; `**` is any number of folders, and a folder stands for its XML files."""
    paths: dict[str, str] = {}
    for pattern in patterns:
        for path in sorted(matching(pattern)):
            paths.setdefault(os.path.realpath(path), os.path.normpath(path))
    return sorted(paths.values())


def matching(pattern: str) -> list[str]:
    """Files that match a pattern. An existing file of exactly that name wins over its reading as a pattern."""
    pattern = os.path.expanduser(pattern)
    if os.path.isfile(pattern):
        return [pattern]
    if os.path.isdir(pattern):
        pattern = os.path.join(glob.escape(pattern), "**", "*.xml")
    return [path for path in glob.glob(pattern, recursive=True) if os.path.isfile(path)]


def why_unreadable(path: str) -> str:
    """Why a file cannot be read; empty if it can."""
    try:
        with open(path, "rb") as file:
            file.read(1)
    except OSError as error:
        return (error.strerror or type(error).__name__).lower()
    return ""
