"""What an assertion's line says: which comparisons must hold, and whether a call decides alone."""

from __future__ import annotations

import ast
import tokenize
from typing import Iterator, NamedTuple

_OPS = {ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.Eq: "=="}
MIRRORED = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "==": "=="}
NEGATED = {"<": ">=", "<=": ">", ">": "<=", ">=": "<"}
_LARGEST = 5_000_000


class Compared(NamedTuple):
    """One operator of a comparison, as the rewritten assertion evaluates it."""

    op: str
    """As it must hold; empty where nothing can be said."""
    is_mirrored: bool
    """The bound is on the left, as in `0.1 < x`."""


class Sources:
    """Parsed files, each once."""

    def __init__(self) -> None:
        self._asserts: dict[str, dict[int, list[ast.Assert]]] = {}

    def comparisons(self, path: str, line: int) -> list[list[Compared]] | None:
        """The comparisons of the assertion at a line, in the order of their evaluation; None if there is none."""
        found = self._at(path).get(line)
        if found is None or len(found) != 1:
            return None
        return [list(_operators(node, is_bare, is_negated)) for node, is_bare, is_negated in _visited(found[0].test)]

    def decides(self, path: str, line: int, name: str) -> bool:
        """Whether the assertion around a line holds exactly if a call of this name is true."""
        for nodes in self._at(path).values():
            for node in nodes:
                if node.lineno <= line <= (node.end_lineno or node.lineno):
                    return any(_is_call(each, name) for each in _conjuncts(node.test))
        return False

    def _at(self, path: str) -> dict[int, list[ast.Assert]]:
        if path not in self._asserts:
            self._asserts[path] = _asserts_of(path)
        return self._asserts[path]


def _asserts_of(path: str) -> dict[int, list[ast.Assert]]:
    found: dict[int, list[ast.Assert]] = {}
    try:
        with tokenize.open(path) as file:
            text = file.read(_LARGEST + 1)
        tree = ast.parse(text) if len(text) <= _LARGEST else None
    except (OSError, SyntaxError, ValueError, RecursionError, MemoryError):
        tree = None
    for node in ast.walk(tree) if tree is not None else ():
        if isinstance(node, ast.Assert):
            found.setdefault(node.lineno, []).append(node)
    return found


def _visited(
    node: ast.expr, is_bare: bool = True, is_negated: bool = False
) -> Iterator[tuple[ast.Compare, bool, bool]]:
    """Comparisons in the order in which pytest's rewriting explains them, inner ones first.

    A bare one must hold for the assertion to hold; of others nothing follows."""
    if isinstance(node, ast.BoolOp):
        for value in node.values:
            yield from _visited(value, is_bare and not is_negated and isinstance(node.op, ast.And))
    elif isinstance(node, ast.UnaryOp):
        yield from _visited(node.operand, is_bare and isinstance(node.op, ast.Not), not is_negated)
    else:
        for operand in _operands(node):
            yield from _visited(operand, False)
        if isinstance(node, ast.Compare):
            yield node, is_bare, is_negated


def _operands(node: ast.expr) -> list[ast.expr]:
    """What the rewriting looks into; anything else it takes as a whole."""
    if isinstance(node, ast.Compare):
        return [node.left, *node.comparators]
    if isinstance(node, ast.BinOp):
        return [node.left, node.right]
    if isinstance(node, ast.Call):
        return [node.func, *node.args, *(keyword.value for keyword in node.keywords)]
    return [node.value] if isinstance(node, (ast.Attribute, ast.Starred)) else []


def _operators(node: ast.Compare, is_bare: bool, is_negated: bool) -> Iterator[Compared]:
    operands = (node.left, *node.comparators)
    if is_negated and len(node.ops) > 1:
        is_bare = False
    for at, operator in enumerate(node.ops):
        op = _OPS.get(type(operator), "") if is_bare else ""
        if is_negated:
            op = NEGATED.get(op, "")
        yield Compared(op, _is_literal(operands[at]) and not _is_literal(operands[at + 1]))


def _is_literal(node: ast.expr) -> bool:
    if isinstance(node, ast.UnaryOp):
        return _is_literal(node.operand)
    if isinstance(node, ast.BinOp):
        return _is_literal(node.left) and _is_literal(node.right)
    return isinstance(node, ast.Constant)


def _conjuncts(node: ast.expr) -> Iterator[ast.expr]:
    if isinstance(node, ast.BoolOp) and isinstance(node.op, ast.And):
        for value in node.values:
            yield from _conjuncts(value)
    elif _is_call(node, "all"):
        assert isinstance(node, ast.Call)
        yield from [*node.args[:1], *([node.func.value] if isinstance(node.func, ast.Attribute) else [])]
    else:
        yield node


def _is_call(node: ast.expr, name: str) -> bool:
    if not isinstance(node, ast.Call):
        return False
    return name == (node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", ""))
