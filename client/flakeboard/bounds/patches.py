"""The line to change: the literal of the bound, or those of the tolerances, as a unified diff that is never applied."""

from __future__ import annotations

import ast
import difflib
import math
import os
import tokenize
from typing import Any, Iterator, Mapping, NamedTuple, Sequence

_FACTORS = frozenset(["rtol", "atol", "rel", "abs", "rel_tol", "abs_tol", "delta"])
_DIGITS = frozenset(["decimal", "places", "significant"])
_THIRD = {
    "assert_almost_equal": "decimal",
    "assert_array_almost_equal": "decimal",
    "assert_approx_equal": "significant",
    "assertAlmostEqual": "places",
    "assert_allclose": "rtol",
    "allclose": "rtol",
    "isclose": "rtol",
    "approx": "",
}
"""What the third positional argument of a function is."""
_ORDERED = frozenset(["assertLess", "assertLessEqual", "assertGreater", "assertGreaterEqual"])


class Change(NamedTuple):
    """One literal and what to write for it."""

    line: int
    start: int
    end: int
    text: str


def patch_of(root: str, site: Mapping[str, Any]) -> str | None:
    """The diff that writes the proposed bound; None where the bound is no literal of that line."""
    return _diff(root, site["file"], [site]) or None


def patch_of_all(root: str, sites: Sequence[Mapping[str, Any]]) -> str:
    """One diff of all bounds: assertions stand near each other, and diffs of each alone would not apply together."""
    files = dict.fromkeys(site["file"] for site in sites)
    return "".join(_diff(root, file, [site for site in sites if site["file"] == file]) for file in files)


def _diff(root: str, name: str, sites: Sequence[Mapping[str, Any]]) -> str:
    try:
        with tokenize.open(os.path.join(root, name)) as file:
            source = file.read()
        tree = ast.parse(source)
    except (OSError, SyntaxError, ValueError):
        return ""
    changes = {(change.line, change.start): change for site in sites for change in _changes(tree, site)}
    before = source.splitlines(keepends=True)
    after = list(before)
    for change in sorted(changes.values(), reverse=True):
        own = after[change.line - 1].encode("utf-8")  # columns count bytes
        after[change.line - 1] = (own[: change.start] + change.text.encode() + own[change.end :]).decode("utf-8")
    return "".join(difflib.unified_diff(before, after, f"a/{name}", f"b/{name}", n=1))


def _changes(tree: ast.AST, site: Mapping[str, Any]) -> Iterator[Change]:
    conclusion = site["conclusion"]
    bound = conclusion["proposal"]["bound"]
    statement = _statement(tree, site["line"])
    if statement is None or bound is None:
        return
    if conclusion["kind"] == "share":
        for node in ast.walk(statement):
            if isinstance(node, ast.Call):
                yield from _tolerances(node, bound)
    elif conclusion["kind"] in ("upper", "lower"):
        literal = _bound_literal(statement, conclusion["bound"])
        if literal is not None:
            yield _change(literal, written(bound))


def _statement(tree: ast.AST, line: int) -> ast.stmt | None:
    """The innermost statement at a line that compares: an assertion or a call."""
    for node in ast.walk(tree):
        if isinstance(node, (ast.Assert, ast.Expr)) and node.lineno <= line <= (node.end_lineno or node.lineno):
            return node
    return None


def _bound_literal(statement: ast.stmt, bound: float) -> ast.expr | None:
    """The literal of this value; none if there are two of it."""
    operands: list[ast.expr] = []
    for node in ast.walk(statement):
        if isinstance(node, ast.Compare):
            operands += [node.left, *node.comparators]
        elif isinstance(node, ast.Call) and _name_of(node) in _ORDERED:
            operands += node.args[1:2]
    found = [each for each in operands if _value_of(each) == bound]
    return found[0] if len(found) == 1 else None


def _tolerances(call: ast.Call, factor: float) -> Iterator[Change]:
    name = _name_of(call)
    if name not in _THIRD and name not in ("assertAllClose", "assert_close"):
        return
    given = [(keyword.arg or "", keyword.value) for keyword in call.keywords]
    given += [(_THIRD.get(name, ""), each) for each in call.args[2:3]]
    for argument, node in given:
        value = _value_of(node)
        if value is None:
            continue
        if argument in _FACTORS and value > 0:
            yield _change(node, written(_outwards(value * factor)))
        elif argument in _DIGITS and value == int(value):
            yield _change(node, str(int(value) - max(1, math.ceil(math.log10(factor)))))


def _name_of(call: ast.Call) -> str:
    return call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")


def _value_of(node: ast.expr) -> float | None:
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        inner = _value_of(node.operand)
        return None if inner is None else -inner
    if isinstance(node, ast.Constant) and type(node.value) in (int, float):
        return float(node.value)
    return None


def _change(node: ast.expr, text: str) -> Change:
    end = node.end_col_offset
    return Change(node.lineno, node.col_offset, end if end is not None else node.col_offset, text)


def _outwards(value: float) -> float:
    """Two digits, rounded up."""
    if not math.isfinite(value) or value == 0:
        return value
    exponent = math.floor(math.log10(abs(value))) - 1
    return float(f"{math.ceil(round(value / 10.0**exponent, 9))}e{exponent}")


def written(value: float) -> str:
    """A number as people write it."""
    short = f"{value:.12g}"
    return short if "." in short or "e" in short else f"{short}.0" if abs(value) < 1e15 else repr(value)
