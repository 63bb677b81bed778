"""The project's code of one process by number: functions, what they mention, and which module imports which."""

from __future__ import annotations

import functools
import gc
import sys
from types import CodeType, FrameType
from typing import Any, Iterator, Mapping

from flakeboard.traces.sources import IO, SOURCES, TIME
from flakeboard.tracing.sites import Sites

FOREIGN, MODULE, CLASS, FORK = -1, -2, -3, -4
"""What stands for code that is no function of the project."""
_OPTIMIZED = 0x1
"""The flag of functions; a module and the body of a class have it not."""
_FORKS = "/multiprocessing/process.py"
"""Where the standard library starts processes without a word to audit hooks."""
_CLOCKS = frozenset(("now", "utcnow", "today"))


def _categories() -> tuple[dict[str, dict[str, str]], dict[str, str]]:
    """Module -> attribute -> category; and qualified name of a class -> category of its methods."""
    attributes: dict[str, dict[str, str]] = {"datetime": dict.fromkeys(("datetime", "date"), TIME)}
    for source in SOURCES:
        module = source.name.rpartition("." + source.path)[0]
        for name in {module, source.module}:
            attributes.setdefault(name, {}).setdefault(source.path.partition(".")[0], source.category)
    classes = {
        f"{module}.{name}": category
        for module, names in attributes.items()
        for name, category in names.items()
        if name[:1].isupper()
    }
    return attributes, {**classes, "socket.socket": "network", "random.Random": "randomness"}


_ATTRIBUTES, _CLASSES = _categories()


_Cached: Any = type(functools.lru_cache()(lambda: None))


class CodeTable:
    def __init__(self, sites: Sites) -> None:
        self.sites = sites
        self.sources: dict[int, frozenset[str]] = {}
        """Function -> categories of sources that it mentions; those without any are left out."""
        self.modules: dict[str, CodeType] = {}
        """File -> the code of its module."""
        self.edges: dict[str, set[str]] = {}
        """File -> files whose modules it was the first to import."""
        self._kept: list[CodeType] = []
        """So that no other code gets the identity of one that we know."""

    def number(self, code: CodeType, frame: FrameType | None) -> int:
        """The number of a function of the project; a negative one for all other code."""
        self._kept.append(code)
        file = self.sites.file_of(code.co_filename)
        if file is None:
            is_fork = code.co_name == "start" and code.co_filename.replace("\\", "/").endswith(_FORKS)
            return FORK if is_fork else FOREIGN
        if not code.co_flags & _OPTIMIZED:
            if code.co_name != "<module>":
                return CLASS
            self._add_module(file, code, frame)
            return MODULE
        index = self.sites.function(code)
        found = frozenset(_mentioned(code, frame.f_globals)) if frame is not None else frozenset()
        if found:
            self.sources[index] = found
        return index

    def cached(self) -> set[int]:
        """Functions whose results `functools` keeps for later tests, and what these may call, by the names in them:
        a test that gets a kept result does not run them again."""
        by_name: dict[str, list[CodeType]] = {}
        for code in self._kept:
            if self.sites.file_of(code.co_filename) is not None and code.co_flags & _OPTIMIZED:
                by_name.setdefault(code.co_name, []).append(code)
        keepers = [found for found in gc.get_objects() if type(found) is _Cached]
        waiting = [getattr(getattr(keeper, "__wrapped__", None), "__code__", None) for keeper in keepers]
        found: set[int] = set()
        while waiting:
            code = waiting.pop()
            if code is None or self.sites.file_of(code.co_filename) is None:
                continue
            number = self.sites.function(code)
            if number not in found:
                found.add(number)
                waiting.extend(inner for name in code.co_names for inner in by_name.get(name, ()))
        return found

    def _add_module(self, file: str, code: CodeType, frame: FrameType | None) -> None:
        self.modules[file] = code
        importer = frame.f_back if frame is not None else None
        while importer is not None:
            by = self.sites.file_of(importer.f_code.co_filename)
            if by is not None and by != file:
                self.edges.setdefault(by, set()).add(file)
                return
            importer = importer.f_back


def _mentioned(code: CodeType, names: Mapping[str, Any]) -> Iterator[str]:
    """Categories of the sources that a function may call, by the names in its code."""
    inner = set(code.co_names)
    reads_clock = bool(inner & _CLOCKS)
    for name in code.co_names:
        value = names.get(name)
        if isinstance(value, type(sys)):
            known = _ATTRIBUTES.get(value.__name__, {})
            found = {known[attribute] for attribute in inner & known.keys()}
            yield from found if reads_clock or value.__name__ != "datetime" else ()
        elif isinstance(value, type):
            is_clock = value.__module__ == "datetime" and reads_clock
            category = TIME if is_clock else _CLASSES.get(f"{value.__module__}.{value.__qualname__}")
            yield from (category,) if category else ()
        elif value is not None:
            category = _ATTRIBUTES.get(getattr(value, "__module__", None) or "", {}).get(name)
            yield from (category,) if category else ()
        elif name == "open":
            yield IO
