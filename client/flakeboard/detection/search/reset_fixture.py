"""A fixture to paste: the fewest statements of a cleaner that let a victim pass after its polluter."""

from __future__ import annotations

import ast
import builtins
import os
import textwrap
from typing import Iterator, Sequence

from flakeboard.detection.execution.outcomes import PASS
from flakeboard.detection.findings import Finding
from flakeboard.detection.laboratory import Laboratory
from flakeboard.detection.search.ddmin import ddmin

TIMES = 10
_MOST_STATEMENTS = 60


def propose_fixture(lab: Laboratory, finding: Finding, rootdir: str) -> None:
    """Shown as text and never applied; none unless it was seen to work every time."""
    group = next((group for group in finding.groups if group.cleaners), None)
    if group is None:
        return
    cleaner = group.cleaners[0]
    source = CleanerSource.read(rootdir, lab.suite.cases[cleaner].id)
    if source is None or not 0 < len(source.statements) <= _MOST_STATEMENTS:
        return

    def resets(statements: Sequence[str]) -> bool:
        order = [*group.tests, finding.test]
        return lab.reset_probe(order, cleaner, "\n".join(statements)).last == PASS

    if not resets(source.statements):
        return
    fewest = ddmin(source.statements, resets)
    if all(resets(fewest) for _ in range(TIMES)):
        finding.fixture = source.fixture(fewest, lab.suite.cases[finding.test].id)


class CleanerSource:
    """The statements of a test function, and the imports that they need."""

    def __init__(self, text: str, tree: ast.Module, function: ast.FunctionDef, node_id: str) -> None:
        self._text, self._tree, self._node_id = text, tree, node_id
        body = function.body[1:] if ast.get_docstring(function) is not None else function.body
        self.statements = [_dedented(text, statement) for statement in _without_arguments(function, body)]

    @classmethod
    def read(cls, rootdir: str, node_id: str) -> CleanerSource | None:
        """None if the file or the function cannot be found there."""
        file, _, rest = node_id.partition("::")
        try:
            with open(os.path.join(rootdir, file), encoding="utf-8") as opened:
                text = opened.read()
            tree = ast.parse(text)
        except (OSError, ValueError, SyntaxError):
            return None
        node: ast.AST | None = tree
        for name in rest.partition("[")[0].split("::"):
            node = next((each for each in getattr(node, "body", ()) if getattr(each, "name", "") == name), None)
        return cls(text, tree, node, node_id) if isinstance(node, ast.FunctionDef) else None

    def fixture(self, statements: Sequence[str], victim: str) -> str:
        name = "".join(letter if letter.isalnum() else "_" for letter in victim.rpartition("::")[2]).strip("_")
        body = textwrap.indent("\n".join(statements), "    ")
        needed = [*self._imports(statements), ""]
        return "\n".join(
            [
                "import pytest",
                *needed,
                "",
                "@pytest.fixture(autouse=True)",
                f"def reset_before_{name}():",
                f'    """What {self._node_id} does that lets {victim} pass."""',
                body,
            ]
        )

    def _imports(self, statements: Sequence[str]) -> Iterator[str]:
        """Lines for the names that the statements use, as the cleaner's own file has them."""
        trees = [node for statement in statements for node in ast.walk(ast.parse(statement))]
        names = [node for node in trees if isinstance(node, ast.Name)]
        own = {name.id for name in names if isinstance(name.ctx, ast.Store)}
        used = {name.id for name in names} - own - set(dir(builtins)) - {"pytest"}
        lines = {}
        for statement in self._tree.body:
            bound = _bound(statement) & used
            if bound and isinstance(statement, (ast.Import, ast.ImportFrom)):
                lines[_dedented(self._text, statement)] = bound
            elif bound:
                file = self._node_id.partition("::")[0]
                lines[f"# {', '.join(sorted(bound))}: as in {file}"] = bound
        yield from lines


def _without_arguments(function: ast.FunctionDef, body: Sequence[ast.stmt]) -> Iterator[ast.stmt]:
    """Statements that need none of the function's arguments, which are fixtures, nor what was made of these."""
    arguments = function.args
    absent = {each.arg for each in (*arguments.args, *arguments.kwonlyargs)}
    for statement in body:
        names = [node for node in ast.walk(statement) if isinstance(node, ast.Name)]
        if absent & {name.id for name in names}:
            absent |= {name.id for name in names if isinstance(name.ctx, ast.Store)}
        else:
            yield statement


def _bound(statement: ast.stmt) -> set[str]:
    """The names that a statement of a module gives a meaning."""
    if isinstance(statement, (ast.Import, ast.ImportFrom)):
        return {(alias.asname or alias.name).partition(".")[0] for alias in statement.names}
    if isinstance(statement, (ast.FunctionDef, ast.ClassDef, ast.AsyncFunctionDef)):
        return {statement.name}
    return {node.id for node in ast.walk(statement) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}


def _dedented(text: str, statement: ast.stmt) -> str:
    segment = ast.get_source_segment(text, statement, padded=True) or ""
    return textwrap.dedent(segment)
