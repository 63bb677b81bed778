"""Which modules of the project a file imports, directly or by way of others.

By the names in the compiled code of each module, without reading its source: a name that is a module's is taken for an
import of it. That finds imports inside functions too, and at times one more than there is, which does no harm."""

from __future__ import annotations

import sys
from types import CodeType
from typing import Iterable, Iterator, Mapping

from flakeboard.tracing.sites import Sites


class ImportGraph:
    """The modules that are loaded now."""

    def __init__(self, sites: Sites, codes: Mapping[str, CodeType], edges: Mapping[str, set[str]]) -> None:
        self._codes, self._first = codes, edges
        self._names: dict[str, str] = {}
        """Dotted name -> file."""
        self._called: dict[str, list[str]] = {}
        """File -> dotted names."""
        for name, module in list(sys.modules.items()):
            path = getattr(module, "__file__", None)
            file = sites.file_of(path) if isinstance(path, str) else None
            if file is not None:
                self._names[name] = file
                self._called.setdefault(file, []).append(name)
        self._next: dict[str, frozenset[str]] = {}

    @property
    def plugins(self) -> list[str]:
        """Files of modules that were loaded before we watched: plugins of the project itself."""
        return [file for file in self._called if file not in self._codes]

    def reachable(self, roots: Iterable[str]) -> set[str]:
        """These files and all that they import."""
        found: set[str] = set()
        waiting = list(roots)
        while waiting:
            file = waiting.pop()
            if file not in found:
                found.add(file)
                waiting.extend(self._imported(file))
        return found

    def _imported(self, file: str) -> frozenset[str]:
        known = self._next.get(file)
        if known is None:
            known = self._next[file] = frozenset(self._look(file))
        return known

    def _look(self, file: str) -> Iterator[str]:
        yield from self._first.get(file, ())
        for name in self._called.get(file, ()):
            for parent in _parents(name):
                if parent in self._names:
                    yield self._names[parent]
        code = self._codes.get(file)
        if code is None:  # not seen when it was loaded: it may import anything
            yield from self._names.values()
            return
        mentioned = set(_mentioned(code))
        scopes = {parent for name in self._called.get(file, ()) for parent in (name, *_parents(name))}
        packages = scopes | {name for name in mentioned if name in self._names}
        for name in mentioned:
            if name in self._names:
                yield self._names[name]
                yield from (self._names[parent] for parent in _parents(name) if parent in self._names)
            for package in packages:
                inner = f"{package}.{name}"
                if inner in self._names:
                    yield self._names[inner]


def _parents(name: str) -> Iterator[str]:
    while "." in name:
        name = name.rpartition(".")[0]
        yield name


def _mentioned(code: CodeType) -> Iterator[str]:
    waiting = [code]
    while waiting:
        inner = waiting.pop()
        yield from inner.co_names
        waiting.extend(constant for constant in inner.co_consts if isinstance(constant, CodeType))
