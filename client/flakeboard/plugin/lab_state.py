"""State that tests share, compared around each of them: what a test leaves behind has a name.

Nothing of the project is called: values are taken apart by their types, never by their own methods."""

from __future__ import annotations

import contextlib
import os
import sys
from typing import Callable, Dict, Iterator, Tuple

from flakeboard.plugin.lab_values import fingerprint, held_by

Snapshot = Dict[Tuple[str, str], str]
"""Aspect and name -> fingerprint of the value."""
_OWN_VARIABLES = frozenset(["PYTEST_CURRENT_TEST", "PYTEST_VERSION"])
_NOT_THE_PROJECTS = frozenset(
    [".git", "__pycache__", ".pytest_cache", ".mypy_cache", ".ruff_cache", ".flakeboard", ".tox", "node_modules"]
)
_MOST_FILES = 20_000


class StateWatch:
    """Tells what each test changed. What is before a test is what was after the one before it."""

    def __init__(self, root: str) -> None:
        self._root = os.path.realpath(root)
        self._last: Snapshot | None = None
        self._ours: dict[str, bool] = {}

    def before(self) -> None:
        if self._last is None:
            self._last = self._snapshot()

    def after(self) -> list[list[str]]:
        """Aspect, name and the fingerprints before and after; empty for absent."""
        earlier, later = self._last or {}, self._snapshot()
        self._last = later
        changed = [key for key in {**earlier, **later} if earlier.get(key, "") != later.get(key, "")]
        return [[*key, earlier.get(key, ""), later.get(key, "")] for key in sorted(changed)]

    def _snapshot(self) -> Snapshot:
        """What can be read: some of it changes under our hands, or hides itself."""
        taken: Snapshot = {}
        for aspect, read in self._aspects().items():
            with contextlib.suppress(OSError, RuntimeError, ValueError, TypeError, AttributeError):
                taken.update({(aspect, name): value for name, value in read()})
        return taken

    def _aspects(self) -> dict[str, Callable[[], Iterator[tuple[str, str]]]]:
        return {
            "environment": _environment,
            "process": _process,
            "module": _modules,
            "logging": _logging,
            "global": self._globals,
            "open file": _open_files,
            "file": self._files,
        }

    def _globals(self) -> Iterator[tuple[str, str]]:
        """Globals of the project's modules, attributes of its classes, and caches of its functions."""
        for name, module in list(sys.modules.items()):
            path = getattr(module, "__dict__", {}).get("__file__")
            if isinstance(path, str):
                if path not in self._ours:
                    self._ours[path] = self._is_the_projects(path)
                if self._ours[path]:
                    yield from held_by(name, vars(module))

    def _is_the_projects(self, path: str) -> bool:
        real = os.path.realpath(path)
        if not real.startswith(self._root + os.sep):
            return False
        inside = real[len(self._root) + 1 :].split(os.sep)
        return "site-packages" not in inside and not _NOT_THE_PROJECTS & set(inside)

    def _files(self) -> Iterator[tuple[str, str]]:
        count = 0
        for folder, folders, names in os.walk(self._root):
            folders[:] = [
                name
                for name in folders
                if name not in _NOT_THE_PROJECTS and not os.path.exists(os.path.join(folder, name, "pyvenv.cfg"))
            ]
            for name in names:
                path = os.path.join(folder, name)
                count += 1
                if count > _MOST_FILES:
                    return
                facts = os.stat(path, follow_symlinks=False)
                yield os.path.relpath(path, self._root), f"{facts.st_size} {facts.st_mtime_ns}"


def _environment() -> Iterator[tuple[str, str]]:
    yield from ((name, value) for name, value in os.environ.items() if name not in _OWN_VARIABLES)


def _process() -> Iterator[tuple[str, str]]:
    """What the interpreter has once: its folder, path, locale, filters of warnings and source of chance."""
    import locale
    import random
    import warnings

    yield "working folder", os.getcwd()
    yield "sys.path", repr(sys.path)
    yield "locale", locale.setlocale(locale.LC_ALL)
    yield "filters of warnings", fingerprint(warnings.filters)
    yield "state of random", str(hash(random.getstate()))
    yield "standard streams", str([id(stream) for stream in (sys.stdin, sys.stdout, sys.stderr)])


def _modules() -> Iterator[tuple[str, str]]:
    yield from ((name, str(id(module))) for name, module in list(sys.modules.items()))


def _logging() -> Iterator[tuple[str, str]]:
    import logging

    yield "disabled level", str(logging.root.manager.disable)
    loggers = {"root": logging.root, **logging.root.manager.loggerDict}
    for name, logger in loggers.items():
        if isinstance(logger, logging.Logger):
            handlers = [type(handler).__name__ for handler in logger.handlers]
            if logger.level or handlers or logger.disabled or not logger.propagate:
                yield name, repr((logger.level, handlers, logger.disabled, logger.propagate))


def _open_files() -> Iterator[tuple[str, str]]:
    """Those with a path: sockets and pipes have only a number, another in each run, and pools close them at will."""
    for number in os.listdir("/proc/self/fd"):
        try:
            target = os.readlink(f"/proc/self/fd/{number}")
        except OSError:
            continue  # the folder itself, while it was read
        if target.startswith("/") and not target.startswith("/proc/"):
            yield target, number
