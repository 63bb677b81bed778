"""Values that tests take from caches of functools: what computed them ran in an earlier test, and counts for both."""

from __future__ import annotations

import functools
import gc
import os
import sys
from dataclasses import dataclass, field
from typing import Any, Iterator, Mapping, MutableMapping
from weakref import WeakKeyDictionary

NOBODY = ""
"""The context of what belongs to no single test: its lines concern every test anyway."""
_CACHE: Any = type(functools.lru_cache(maxsize=1)(len))


@dataclass
class _Counted:
    hits: int = 0
    misses: int = 0
    fillers: set[str] = field(default_factory=set)
    """Contexts that computed what it holds."""


class CachedValues:
    """Which caches each context filled and which it took values from, by what the caches themselves count."""

    def __init__(self, folder: str) -> None:
        self._folder = os.path.join(os.path.realpath(folder), "")
        self._modules = 0
        self._caches: MutableMapping[Any, _Counted] = WeakKeyDictionary()
        self._owed: dict[str, set[str]] = {}
        """By context: those that computed values for it."""

    def note(self, context: str) -> None:
        """Whatever happened since the last call happened in this context."""
        self._look_for_more()
        for cache, before in self._caches.items():
            hits, misses = cache.cache_info()[:2]
            if misses < before.misses:  # it was cleared
                before.fillers.clear()
            elif hits != before.hits:
                self._owed.setdefault(context, set()).update(before.fillers - {NOBODY})
            if misses != before.misses:
                before.fillers.add(context)
            before.hits, before.misses = hits, misses

    def debts(self) -> Iterator[tuple[str, frozenset[str]]]:
        """Each context with those that it owes lines to, also through others."""
        for context in self._owed:
            found, waiting = {context}, [context]
            while waiting:
                more = self._owed.get(waiting.pop(), set()) - found
                found |= more
                waiting += more
            if len(found) > 1:
                yield context, frozenset(found - {context})

    def _look_for_more(self) -> None:
        """Caches of the project's own functions; new ones come with new modules."""
        if len(sys.modules) == self._modules:
            return
        self._modules = len(sys.modules)
        for each in gc.get_objects():
            if type(each) is _CACHE and each not in self._caches and self._is_own(each):
                self._caches[each] = _Counted()

    def _is_own(self, cache: Any) -> bool:
        code = getattr(getattr(cache, "__wrapped__", None), "__code__", None)
        path = os.path.realpath(getattr(code, "co_filename", ""))
        return path.startswith(self._folder) and f"{os.sep}site-packages{os.sep}" not in path


def share_lines(coverage: Any, values: CachedValues) -> None:
    """Add to each context the lines of those that computed values for it."""
    data = coverage.get_data()
    lines: dict[str, Mapping[str, Any]] = {}
    unions: dict[frozenset[str], Mapping[str, Any]] = {}
    for context, others in values.debts():
        if others not in unions:
            for other in others - lines.keys():
                lines[other] = _lines_of(data, other)
            unions[others] = _joined([lines[other] for other in sorted(others)])
        coverage.switch_context(context)
        add = data.add_arcs if data.has_arcs() else data.add_lines
        add(unions[others])


def _lines_of(data: Any, context: str) -> dict[str, Any]:
    """By file; lines, or jumps where those are measured. A context of the settings file may stand before ours."""
    names = [name for name in data.measured_contexts() if name == context or (context and name.endswith("|" + context))]
    found: dict[str, Any] = {}
    for path in data.measured_files() if names else ():
        # By exact names: set_query_contexts would read them as patterns.
        for name in names:
            data.set_query_context(name)
            ran = data.arcs(path) if data.has_arcs() else data.lines(path)
            if ran:
                found[path] = found.get(path, set()) | set(ran)
    data.set_query_contexts(None)
    return found


def _joined(maps: list[Mapping[str, Any]]) -> dict[str, Any]:
    joined: dict[str, Any] = {}
    for each in maps:
        for path, ran in each.items():
            joined.setdefault(path, set()).update(ran)
    return joined
