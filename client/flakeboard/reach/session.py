"""Reach of the tests of one process: what each of them used, written as JSON lines."""

from __future__ import annotations

import json
import os
import platform
from typing import Any, Hashable, Iterable, Mapping

from flakeboard.node_names import file_of
from flakeboard.reach import audit
from flakeboard.reach.code_table import CodeTable
from flakeboard.reach.form import CHILD, MANY, REACH_VERSION, SHARED, SKIPPED
from flakeboard.reach.imports import ImportGraph
from flakeboard.reach.limits import LIMITS
from flakeboard.reach.watch import watch_of
from flakeboard.tracing.sites import Sites

PREFIX = "flakeboard-reach"
"""How the name of such a file begins; it ends with `.jsonl`."""
_open = open


class Used:
    """What was used since it was made: by a test, or by a fixture that several tests share."""

    __slots__ = ("child", "files", "functions", "loaded", "sources")

    def __init__(self) -> None:
        self.functions: set[int] = set()
        self.loaded: set[str] = set()
        self.files: dict[str, None] = {}
        self.sources: set[str] = set()
        self.child = False

    def add(self, other: Used) -> None:
        self.functions |= other.functions
        self.loaded |= other.loaded
        self.files.update(other.files)
        self.sources |= other.sources
        self.child = self.child or other.child


class ReachSession(audit.Listener):
    """Made once in a process, before conftests and tests are imported."""

    def __init__(self, rootdir: str, packages: Iterable[str] = ()) -> None:
        self._root = os.path.join(os.path.realpath(rootdir), "")
        self._table = CodeTable(Sites(rootdir, list(packages)))
        self._watch = watch_of(self._table)
        self._watch.on_child = self.on_child
        self.why_not = self._watch.start()
        """Why nothing is recorded, if so."""
        self._outside = Used()
        self._stack: list[Used] = []
        self._fixtures: dict[Hashable, Used] = {}
        self._paths: dict[str, str | None] = {}
        self._files: dict[str, int] = {}
        self._written = {"functions": 0, "files": 0}
        self._test_files: dict[str, None] = {}
        self._file: Any = None
        self.count = 0
        self._switch(self._outside)
        if not self.why_not:
            audit.listen(self)

    def open(self, folder: str, worker: str = "", revision: Mapping[str, str] | None = None) -> None:
        """Write into a file of this folder. Raises OSError."""
        name = f"{PREFIX}.{worker}.jsonl" if worker else f"{PREFIX}.jsonl"
        self._file = _open(os.path.join(folder, name), "w", encoding="utf-8")
        self._line(
            {
                "flakeboard_reach": REACH_VERSION,
                "python": platform.python_version(),
                "worker": worker,
                **(revision or {}),
            }
        )

    # -- what is used ----------------------------------------------------------------------------------------------

    def _switch(self, used: Used) -> None:
        self._used = used
        self._watch.reached, self._watch.loaded = used.functions, used.loaded

    def on_file(self, path: str) -> None:
        below = self._below(path)
        if below:
            self._used.files[below] = None

    def on_folder(self, path: str) -> None:
        below = self._below(path)
        if below is not None:
            self._used.files[below + "/" if below else "./"] = None

    def on_child(self) -> None:
        self._used.child = True

    def on_source(self, category: str) -> None:
        self._used.sources.add(category)

    def _below(self, path: str) -> str | None:
        """The path below rootdir, with slashes; None for one elsewhere, and for what is no file of the project."""
        if not os.path.isabs(path):
            path = os.path.join(os.getcwd(), path)
        known = self._paths.get(path, "")
        if known != "" or path in self._paths:
            return known
        real = os.path.normpath(path)
        if not (real + os.sep).startswith(self._root):
            real = os.path.realpath(path)
        below: str | None = None
        if (real + os.sep).startswith(self._root):
            parts = real[len(self._root) :].split(os.sep)
            if not any(part in _IGNORED for part in parts):
                below = "/".join(parts)
        self._paths[path] = below
        return below

    # -- tests and fixtures ----------------------------------------------------------------------------------------

    def begin_test(self) -> None:
        self._stack = []
        self._switch(Used())
        self._watch.arm()

    def begin_fixture(self) -> None:
        """A fixture that outlives its test is set up: what it uses is of every test that has it."""
        self._stack.append(self._used)
        self._switch(Used())
        self._watch.arm()

    def end_fixture(self, key: Hashable, needs: Iterable[Hashable]) -> None:
        used = self._used
        for need in needs:
            if need in self._fixtures:
                used.add(self._fixtures[need])
        self._fixtures[key] = used
        self._switch(self._stack.pop())
        self._used.add(used)

    def end_test(self, test: str, attempt: int, fixtures: Iterable[Hashable], was_skipped: bool) -> None:
        """Write what the test and its fixtures used."""
        used = self._used
        for key in fixtures:
            if key in self._fixtures:
                used.add(self._fixtures[key])
        self._switch(self._outside)
        sources = set(used.sources)
        for number in used.functions:
            sources |= self._table.sources.get(number, frozenset())
        why = SKIPPED if was_skipped else CHILD if used.child else MANY if len(used.files) > LIMITS.opened else ""
        if not self._watch.is_alone():
            why = SHARED
        if self._file is not None:
            self._write(test, attempt, used, sorted(sources), why)

    def _write(self, test: str, attempt: int, used: Used, sources: list[str], why: str) -> None:
        self.count += 1
        self._test_files[file_of(test)] = None
        files = [self._number(path) for path in [*used.files, *sorted(used.loaded)][: LIMITS.opened]]
        self._write_functions()
        self._write_files()
        body: dict[str, Any] = {"test": test, "attempt": attempt, "reach": _gaps(used.functions), "files": files}
        body.update({name: value for name, value in (("sources", sources), ("incomplete", why)) if value})
        self._line(body)

    def _number(self, path: str) -> int:
        return self._files.setdefault(path[: LIMITS.text], len(self._files))

    def _write_functions(self) -> None:
        functions, start = self._table.sites.functions, self._written["functions"]
        if len(functions) > start:
            self._line({"functions": [list(row) for row in functions[start:]], "from": start})
            self._written["functions"] = len(functions)

    def _write_files(self) -> None:
        start = self._written["files"]
        if len(self._files) > start:
            self._line({"files": list(self._files)[start:], "from": start})
            self._written["files"] = len(self._files)

    # -- the end ---------------------------------------------------------------------------------------------------

    def close(self, plugins: Iterable[str] = ()) -> None:
        """Write what is known only now: imports, and what ran outside of any test or was kept for later ones.

        `plugins` are files of conftests and plugins that are loaded."""
        self._watch.stop()
        audit.unlisten()
        if self._file is None:
            return
        sites = self._table.sites
        graph = ImportGraph(sites, self._table.modules, self._table.edges)
        everywhere = [file for file in map(sites.file_of, plugins) if file is not None]
        for test_file in self._test_files:
            roots = [test_file, *(file for file in everywhere if _is_for(file, test_file))]
            numbers = sorted(self._number(file) for file in graph.reachable(roots))
            self._write_files()
            self._line({"imports": test_file, "files": numbers})
        outside = self._outside.functions | self._table.cached()
        self._write_functions()
        self._line({"outside": _gaps(outside), "end": True})
        self._file.close()
        self._file = None

    def _line(self, body: Mapping[str, Any]) -> None:
        self._file.write(json.dumps(body, separators=(",", ":")) + "\n")
        self._file.flush()


_IGNORED = frozenset(
    ("site-packages", "dist-packages", ".venv", "node_modules", ".git", "__pycache__", ".pytest_cache")
)


def _is_for(plugin: str, test_file: str) -> bool:
    """A conftest is for the tests of its folder and below; any other plugin for all."""
    folder, _, name = plugin.rpartition("/")
    return name != "conftest.py" or not folder or test_file.startswith(folder + "/")


def _gaps(numbers: Iterable[int]) -> list[int]:
    """Ascending numbers as differences, which compress better."""
    ascending = sorted(numbers)
    return [number - before for number, before in zip(ascending, [0, *ascending])]
