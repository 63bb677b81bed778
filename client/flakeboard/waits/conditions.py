"""The condition that a test asks right after a sleep, if it is safe to ask it earlier and more often."""

from __future__ import annotations

import ast
from typing import Iterator, NamedTuple

_METHODS = ("is_set", "done", "empty", "qsize", "exists", "is_alive", "poll")
_PLAIN = (
    *(ast.Name, ast.Attribute, ast.Subscript, ast.Constant, ast.Compare, ast.BoolOp, ast.UnaryOp, ast.Tuple),
    *(ast.Load, ast.And, ast.Or, ast.Not, ast.USub, ast.cmpop, ast.Slice),
)


class Condition(NamedTuple):
    expression: str
    """As it is written behind `assert`."""
    is_awaited: bool
    """The sleep is awaited."""
    indent: str


def condition_after(text: str, line: int) -> Condition | None:
    """What is asserted right after the sleep in this line; None if that is not pure, or nothing is."""
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError):
        return None
    for sleep, after in _neighbours(tree):
        if not sleep.lineno <= line <= (getattr(sleep, "end_lineno", None) or sleep.lineno):
            continue
        if isinstance(sleep, ast.Expr) and isinstance(after, ast.Assert) and is_pure(after.test):
            segment = ast.get_source_segment(text, after.test)
            if segment is not None:
                awaited = isinstance(sleep.value, ast.Await)
                return Condition(" ".join(segment.split()), awaited, " " * sleep.col_offset)
    return None


def _neighbours(tree: ast.AST) -> Iterator[tuple[ast.stmt, ast.stmt]]:
    for node in ast.walk(tree):
        for name in ("body", "orelse", "finalbody"):
            block = getattr(node, name, None)
            if isinstance(block, list):
                yield from zip(block, block[1:])


def is_pure(node: ast.AST) -> bool:
    """Names, attributes, subscripts, constants, comparisons, and/or/not, `len`, and questions that change nothing."""
    if isinstance(node, ast.Call):
        function = node.func
        if isinstance(function, ast.Name) and function.id == "len":
            return len(node.args) == 1 and not node.keywords and is_pure(node.args[0])
        if isinstance(function, ast.Attribute) and function.attr in _METHODS:
            return not node.args and not node.keywords and is_pure(function.value)
        return False
    return isinstance(node, _PLAIN) and all(map(is_pure, ast.iter_child_nodes(node)))


def pasted(condition: Condition, deadline: float) -> str:
    """A loop in place of the sleep, with the names of the test's own code."""
    pause = "await asyncio.sleep(0.01)" if condition.is_awaited else "time.sleep(0.01)"
    lines = (
        f"deadline = time.monotonic() + {deadline:g}",
        f"while not ({condition.expression}) and time.monotonic() < deadline:",
        f"    {pause}",
        f"assert {condition.expression}",
    )
    return "\n".join(condition.indent + line for line in lines)
