"""Which tests there are, by their names: from JUnit files, else from the server's list."""

from __future__ import annotations

import glob
from typing import Sequence, Tuple

from flakeboard.problems import Problem
from flakeboard.reports.junit import read
from flakeboard.server.api import Api
from flakeboard.sketches.names import function_name

Names = Tuple[str, str, str]
"""Class, name and file."""


def reported_tests(patterns: Sequence[str], api: Api) -> list[Names]:
    """One test of each function."""
    if not patterns:
        rows = [(row["classname"], row["name"], row["file"]) for row in api.rows("tests", {"sort": "number"})]
        return distinct(rows)
    paths = sorted({path for pattern in patterns for path in glob.glob(pattern, recursive=True)})
    cases = read(paths)
    if not cases:
        raise Problem("no test is named by {}.".format(", ".join(patterns)))
    return distinct([(case.classname, case.name, case.file) for case in cases])


def distinct(tests: Sequence[Names]) -> list[Names]:
    once: dict[tuple[str, str], Names] = {}
    for classname, name, file in tests:
        once.setdefault((classname or file, function_name(name)), (classname, name, file))
    return list(once.values())
