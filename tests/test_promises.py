"""docs/security.md names the test that proves each promise: each of them is there, and no row goes without."""

import ast
import re
from functools import cache

from tests.conftest import ROOT

PAGE = (ROOT / "docs" / "security.md").read_text()
NAMED = sorted(set(re.findall(r"`(tests/[\w/]+\.py)::(\w+)`", PAGE)))
ROWS = [line for line in PAGE.splitlines() if line.startswith("|") and not re.match(r"\|[-|]+\|$", line)]
_HEADERS = ("proved by |",)


@cache
def functions_of(path: str) -> set[str]:
    tree = ast.parse((ROOT / path).read_text())
    return {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}


def test_the_tests_that_prove_promises_are_there() -> None:
    missing = [f"{path}::{name}" for path, name in NAMED if name not in functions_of(path)]
    assert missing == [] and len(NAMED) > 200


def test_every_promise_names_its_proof() -> None:
    unproved = [row for row in ROWS if not row.endswith(_HEADERS) and "::test_" not in row.rpartition("| `")[2]]
    assert len(ROWS) > 50
    assert unproved == []
