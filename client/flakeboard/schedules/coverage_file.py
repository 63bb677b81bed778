"""Coverage by test, from the data file of coverage.py 5.0 and newer: SQLite, with a context for each test."""

from __future__ import annotations

import os
import re
import sqlite3
from dataclasses import dataclass, field
from typing import Iterator

from flakeboard.problems import Problem

_PHASE = re.compile(r"\|(setup|run|teardown)\Z")
_STATIC = re.compile(r"\A[^:]*\|(?=[^|]*::)")
"""A context of the settings file comes before that of the test: `nightly|tests/test_a.py::test_b`."""


@dataclass
class CoverageMaps:
    """Lines as bit maps: bit n stands for line n."""

    tests: dict[str, dict[str, int]] = field(default_factory=dict)
    """Node id -> file -> its lines."""
    outside: dict[str, int] = field(default_factory=dict)
    """File -> lines that ran outside of any single test: at import, or for a fixture that several tests share."""

    @property
    def files(self) -> list[str]:
        return sorted({*self.outside, *(path for maps in self.tests.values() for path in maps)})


def read_coverage(path: str, top: str) -> CoverageMaps:
    """The maps of the files below `top`, by their paths from there. Raises Problem for anything else."""
    if not os.path.isfile(path):
        raise Problem(f"there is no file {path}")
    address = "file:{}?mode=ro&immutable=1".format(re.sub(r"[?#%]", lambda found: f"%{ord(found.group()):02x}", path))
    try:
        connection = sqlite3.connect(address, uri=True)
        try:
            maps = _maps(connection, os.path.realpath(top))
        finally:
            connection.close()
    except (sqlite3.Error, ValueError, TypeError):
        raise Problem(f"{path} is no data file of coverage.py 5.0 or newer") from None
    if not maps.tests:
        raise Problem(
            f"{path} does not say which test ran which line: run pytest with --flakeboard-coverage under coverage.py, "
            "or with --cov-context=test"
        )
    return maps


def _maps(connection: sqlite3.Connection, top: str) -> CoverageMaps:
    paths = {number: _below(path, top) for number, path in connection.execute("SELECT id, path FROM file")}
    contexts = {number: _test_of(text) for number, text in connection.execute("SELECT id, context FROM context")}
    maps = CoverageMaps()
    for file, context, lines in _rows(connection):
        path, (test, is_own) = paths[file], contexts[context]
        if not path or not lines:
            continue
        if test:
            of_test = maps.tests.setdefault(test, {})
            of_test[path] = of_test.get(path, 0) | lines
        if not is_own:
            maps.outside[path] = maps.outside.get(path, 0) | lines
    return maps


def _rows(connection: sqlite3.Connection) -> Iterator[tuple[int, int, int]]:
    """File, context and lines; of branch coverage, the lines at both ends of each jump."""
    for file, context, numbits in connection.execute("SELECT file_id, context_id, numbits FROM line_bits"):
        yield file, context, int.from_bytes(numbits, "little")
    found: dict[tuple[int, int], int] = {}
    for file, context, start, end in connection.execute("SELECT file_id, context_id, fromno, tono FROM arc"):
        for line in (start, end):
            if line > 0:
                found[file, context] = found.get((file, context), 0) | 1 << line
    for (file, context), lines in found.items():
        yield file, context, lines


def _test_of(context: str) -> tuple[str, bool]:
    """The test of a context, and whether its lines are the test's own.

    pytest-cov's setup and teardown may be those of a fixture that others share, so they count as nobody's too."""
    phase = _PHASE.search(context)
    name = _STATIC.sub("", _PHASE.sub("", context))
    if "::" not in name:
        return "", False
    return name, phase is None or phase.group(1) == "run"


def _below(path: str, top: str) -> str:
    """A path from the top of the checkout; empty for what lies elsewhere."""
    found = os.path.relpath(os.path.realpath(os.path.join(top, path)), top)
    return "" if found.startswith(os.pardir) or os.path.isabs(found) else found.replace(os.sep, "/")
