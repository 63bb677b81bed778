"""Places in the project's own code: which frames are the project's, and how a call is named across revisions."""

from __future__ import annotations

import ast
import dis
import os
import sys
import sysconfig
from types import CodeType, FrameType
from typing import Any, Collection, Sequence

from flakeboard.traces.limits import LIMITS
from flakeboard.traces.trace import CODE, Function, Site

FRAMES = 30
"""How far up a caller is looked for."""
INDIRECT = 1_000
"""Added to numbers that count all calls of a function, so that they are no number of a callee."""
_FOREIGN = ("site-packages", "dist-packages", ".venv", "node_modules")
_BARRIERS = ("asyncio", "logging", "_pytest", "pluggy", "importlib")
_OWN = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
_LOADS = frozenset(("LOAD_ATTR", "LOAD_METHOD", "LOAD_GLOBAL", "LOAD_NAME", "LOAD_FAST", "LOAD_DEREF"))
_ATTRIBUTES = ("LOAD_ATTR", "LOAD_METHOD")


class Sites:
    """The tables of sites and functions of one process, and the search for the caller of a source."""

    def __init__(self, rootdir: str, packages: Sequence[str] = (), own: Collection[CodeType] = ()) -> None:
        self.table: list[Site] = []
        self.functions: list[Function] = []
        self._root = os.path.join(os.path.realpath(rootdir), "")
        self._packages = tuple(packages)
        self._own = own
        """Code of ours: a source that one of these frames called is not the outermost."""
        library = os.path.realpath(sysconfig.get_paths()["stdlib"])
        self._library = os.path.join(library, "")
        self._files: dict[str, str | None] = {}
        self._barriers: dict[str, bool] = {}
        self._known: dict[Any, int] = {}
        self._keys: dict[tuple[str, str, str, int], int] = {}
        self._reached: dict[CodeType, int] = {}
        self._names: dict[str, dict[tuple[str, int], str]] = {}

    def file_of(self, filename: str) -> str | None:
        """The path below rootdir, or in a package that is named as the project's; None for all other code."""
        try:
            return self._files[filename]
        except KeyError:
            found = self._files[filename] = self._relative(filename)
            return found

    def _relative(self, filename: str) -> str | None:
        if not os.path.isabs(filename):
            return None
        path = os.path.realpath(filename)
        parts = path.split(os.sep)
        for package in self._packages:
            if package in parts:
                return "/".join(parts[parts.index(package) :])
        if path.startswith((os.path.join(_OWN, ""), self._library)) or any(part in _FOREIGN for part in parts):
            return None
        return path[len(self._root) :].replace(os.sep, "/") if path.startswith(self._root) else None

    def _is_barrier(self, filename: str) -> bool:
        """Event loops and loggers read the clock for themselves: that is not the project's doing."""
        try:
            return self._barriers[filename]
        except KeyError:
            parts = filename.replace("<frozen ", "").split(os.sep)
            found = self._barriers[filename] = any(part.partition(".")[0] in _BARRIERS for part in parts[-3:])
            return found

    def caller(self, frame: FrameType | None, direct: bool) -> FrameType | None:
        """The nearest frame of the project; None if there is none, or if another source is nearer."""
        own, files = self._own, self._files
        for _ in range(FRAMES):
            if frame is None:
                return None
            code = frame.f_code
            if code in own:
                return None
            name = code.co_filename
            if (files[name] if name in files else self.file_of(name)) is not None:
                return frame
            if direct and self._is_barrier(name):
                return None
            frame = frame.f_back
        return None

    def site(self, frame: FrameType, callee: str, is_direct: bool = True) -> int:
        """The number of the site that this frame is at; `is_direct` if the frame itself calls the callee."""
        key = (frame.f_code, frame.f_lasti, callee, is_direct)
        known = self._known.get(key)
        return known if known is not None else self._add(key, frame.f_code, frame.f_lasti, callee, frame.f_lineno)

    def _add(self, key: Any, code: CodeType, offset: int, callee: str, line: int) -> int:
        file = self.file_of(code.co_filename) or ""
        nth = nth_call(code, offset, callee.replace(CODE, "").rpartition(".")[2] if key[3] else "")
        site = Site(_cut(file), _cut(self.name_of(code)), _cut(callee), nth, line or 0)
        index = self._keys.get(site.key)
        if index is None:
            index = self._keys[site.key] = len(self.table)
            self.table.append(site)
        self._known[key] = index
        return index

    def outside(self, code: CodeType, callee: str) -> int:
        """The site of a function of the project that something outside of it called."""
        key = (code, -1, callee, True)
        known = self._known.get(key)
        return known if known is not None else self._add(key, code, -1, callee, code.co_firstlineno)

    def function(self, code: CodeType) -> int:
        """The number of a function of the project, for reach."""
        index = self._reached.get(code)
        if index is None:
            index = self._reached[code] = len(self.functions)
            lines = [line for _, line in dis.findlinestarts(code) if line]
            file = self.file_of(code.co_filename) or ""
            self.functions.append(
                Function(
                    _cut(file), _cut(self.name_of(code)), code.co_firstlineno, max(lines, default=code.co_firstlineno)
                )
            )
        return index

    def name_of(self, code: CodeType) -> str:
        """The qualified name, which code objects have from Python 3.11 on; before, it is read from the source."""
        if sys.version_info >= (3, 11):
            return code.co_qualname
        names = self._names.get(code.co_filename)
        if names is None:
            names = self._names[code.co_filename] = _qualified(code.co_filename)
        return names.get((code.co_name, code.co_firstlineno), code.co_name)


def nth_call(code: CodeType, offset: int, name: str) -> int:
    """Which call of `name` in the function the instruction at `offset` is, counted by loads of the name before it.

    A callee under another name, or called by way of a library, is counted among all calls of the function."""
    loads, calls, pending = 0, 0, False
    for instruction in dis.get_instructions(code):
        if instruction.offset > offset >= 0:
            break
        if pending and instruction.opname not in _ATTRIBUTES:
            loads += 1
        pending = False
        if instruction.opname in _ATTRIBUTES:
            loads += instruction.argval == name
        elif instruction.opname in _LOADS and instruction.argval == name:
            pending = True
        calls += instruction.opname.startswith("CALL")
    return loads or INDIRECT + calls


def _qualified(filename: str) -> dict[tuple[str, int], str]:
    """(name, first line) -> qualified name, of all functions of a file."""
    try:
        with open(filename, "rb") as file:
            tree = ast.parse(file.read())
    except (OSError, SyntaxError, ValueError):
        return {}
    found: dict[tuple[str, int], str] = {}
    waiting: list[tuple[ast.AST, str]] = [(tree, "")]
    while waiting:
        node, prefix = waiting.pop()
        for child in ast.iter_child_nodes(node):
            inner = prefix
            if isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
                first = min([child.lineno, *(decorator.lineno for decorator in child.decorator_list)])
                found[child.name, first] = prefix + child.name
                inner = prefix + child.name + (".<locals>." if not isinstance(child, ast.ClassDef) else ".")
            elif isinstance(child, ast.Lambda):
                found["<lambda>", child.lineno] = prefix + "<lambda>"
            waiting.append((child, inner))
    return found


def _cut(text: str) -> str:
    return text[: LIMITS.text]
