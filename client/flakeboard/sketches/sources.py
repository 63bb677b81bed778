"""Where the source of a reported test is: the file that the report names, else the files that its class may be in."""

from __future__ import annotations

import os
from typing import NamedTuple

from flakeboard.sketches.functions import Function, functions
from flakeboard.sketches.languages import Language, language_of
from flakeboard.sketches.sketch import Sketch, sketch_of, words_of

LARGEST = 200_000
"""Bytes of a file, and of a test in it."""
_SKIPPED_FOLDERS = {"node_modules", "vendor", "target", "build", "dist", "venv", "__pycache__"}
_MOST_FILES = 20_000

NOT_FOUND, SEVERAL, TOO_LARGE, TOO_SHORT = "not found", "found twice", "over 200 KB", "too short"


class Sketched(NamedTuple):
    """A test with its sketch, or why it has none."""

    classname: str
    name: str
    file: str
    language: str = ""
    sketch: Sketch | None = None
    words: dict[str, int] | None = None
    path: str = ""
    """Of the file below the folder that was searched."""
    line: int = 0
    why: str = ""


class Sources:
    """The source files below a folder, read once."""

    def __init__(self, folder: str, key: bytes) -> None:
        self._folder, self._key = folder, key
        self._texts: dict[str, str | None] = {}
        self._by_stem: dict[str, list[str]] | None = None

    def sketched(self, classname: str, name: str, file: str = "") -> Sketched:
        """The only function that the names may mean, as a sketch."""
        found, large = [], False
        for path in self._candidates(classname, file):
            language, text = language_of(path), self._text(path)
            large = large or text is None
            if language is not None and text is not None:
                found += [(path, language, function) for function in functions(language, text, classname, name)]
        if len(found) != 1:
            why = SEVERAL if found else TOO_LARGE if large else NOT_FOUND
            return Sketched(classname, name, file, why=why)
        return self._made(classname, name, file, found[0])

    def _made(self, classname: str, name: str, file: str, found: tuple[str, Language, Function]) -> Sketched:
        path, language, function = found
        words = words_of(function.text)
        sketch = sketch_of(words, self._key)
        why = "" if sketch else TOO_SHORT
        return Sketched(classname, name, file, language.name, sketch, dict(words), path, function.line, why)

    def _candidates(self, classname: str, file: str) -> list[str]:
        """The report's file; else files called as a part of the class, the last part first; else all that are left."""
        if file:
            path = os.path.normpath(file)
            if not os.path.isabs(path) and not path.startswith("..") and os.path.isfile(self._at(path)):
                return [path]
        stems = self._stems()
        parts = [part for part in classname.replace("\\", ".").replace("/", ".").replace("::", ".").split(".") if part]
        for place in range(len(parts) - 1, -1, -1):
            named = stems.get(parts[place].split("$")[0], [])
            if named:
                below = [path for path in named if _fits(path, parts[:place])]
                return below or named
        return [path for paths in stems.values() for path in paths if not path.endswith(".py")]

    def _stems(self) -> dict[str, list[str]]:
        if self._by_stem is None:
            self._by_stem = {}
            for path in self._files():
                stem = os.path.basename(path).split(".")[0]
                self._by_stem.setdefault(stem, []).append(path)
        return self._by_stem

    def _files(self) -> list[str]:
        found: list[str] = []
        for folder, folders, files in os.walk(self._folder):
            folders[:] = sorted(name for name in folders if name not in _SKIPPED_FOLDERS and not name.startswith("."))
            below = os.path.relpath(folder, self._folder)
            found += [os.path.normpath(os.path.join(below, file)) for file in sorted(files) if language_of(file)]
            if len(found) > _MOST_FILES:
                break
        return found[:_MOST_FILES]

    def _at(self, path: str) -> str:
        return os.path.join(self._folder, path)

    def _text(self, path: str) -> str | None:
        """None for what is too large or cannot be read; bytes that are no UTF-8 are replaced."""
        if path not in self._texts:
            try:
                with open(self._at(path), "rb") as file:
                    content = file.read(LARGEST + 1)
            except OSError:
                content = b""
            text = content.decode("utf-8-sig", "replace").replace("\r\n", "\n").replace("\0", " ")
            self._texts[path] = None if len(content) > LARGEST else text
        return self._texts[path]


def _fits(path: str, packages: list[str]) -> bool:
    """Whether the folders of a file end as the packages of a class do."""
    folders = os.path.dirname(path).replace(os.sep, "/").split("/")
    return not packages or folders[-1:] == packages[-1:]
