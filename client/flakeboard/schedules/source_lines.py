"""What a line of Python belongs to: a statement, the function around it, or the module itself. By `ast`."""

from __future__ import annotations

import ast
from typing import Iterator, NamedTuple, Tuple

Span = Tuple[int, int]
"""First and last line."""


class Function(NamedTuple):
    name: str
    """With the classes and functions around it: `Cart.total`."""
    header: Span
    """From its first decorator to the line before its body."""
    body: Span


class Place(NamedTuple):
    """Where a line of code is."""

    function: Function | None
    """None for what runs when the module is imported."""
    statement: Span | None
    """The lines of its statement, or of the head of a compound one; None where coverage sees no such line."""


_COMPOUND = (ast.If, ast.For, ast.AsyncFor, ast.While, ast.With, ast.AsyncWith, ast.Try, ast.ClassDef)
_COMPOUND += tuple(getattr(ast, name) for name in ("TryStar", "Match") if hasattr(ast, name))
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


class SourceLines:
    """A source file by its lines. Raises SyntaxError or ValueError for what is no Python."""

    def __init__(self, source: str) -> None:
        self._texts = source.split("\n")
        self.functions: list[Function] = []
        self._function: dict[int, Function] = {}
        self._statement: dict[int, tuple[Span | None, bool]] = {}
        """Line -> its statement's lines, and whether the line surely holds code."""
        self._walk(ast.parse(source))

    def place(self, line: int) -> Place | None:
        """Where the code of a line is; None for blank lines and comments."""
        found = self._statement.get(line)
        if found is None:
            return None
        span, is_code = found
        if not is_code and self._is_silent(line):
            return None
        return Place(self._function.get(line), span)

    def function_at(self, line: int) -> Function | None:
        """The function whose header or body has the line, the innermost one."""
        inside = [function for function in self.functions if function.header[0] <= line <= function.body[1]]
        return max(inside, key=lambda function: function.header[0], default=None)

    def named(self, name: str) -> Function | None:
        return next((function for function in self.functions if function.name == name), None)

    def indentation(self, line: int) -> str:
        text = self._texts[line - 1] if 0 < line <= len(self._texts) else ""
        return text[: len(text) - len(text.lstrip())]

    def _is_silent(self, line: int) -> bool:
        text = self._texts[line - 1].strip()
        return not text or text.startswith("#")

    def _walk(self, tree: ast.Module) -> None:
        """Outer statements first, so that those inside them take their lines over."""
        waiting: list[tuple[ast.stmt, str, Function | None]] = [(node, "", None) for node in reversed(tree.body)]
        while waiting:
            node, prefix, function = waiting.pop()
            first, last = _first(node), int(node.end_lineno or node.lineno)
            if isinstance(node, (*_FUNCTIONS, *_COMPOUND)):
                head = (first, max(_below(node) - 1, node.lineno))
                self._own(first, last, head, function, False)
                self._own(*head, head, function, True)
            elif isinstance(node, (ast.Global, ast.Nonlocal)) or _is_text(node):
                self._own(first, last, None, function, True)
            else:
                self._own(first, last, (first, last), function, True)
            inner, name = function, prefix
            if isinstance(node, _FUNCTIONS):
                name = prefix + node.name
                inner = self._entered(node, name, first, last) or function
                name += ".<locals>."
            elif isinstance(node, ast.ClassDef):
                name = f"{prefix}{node.name}."
            waiting.extend((child, name, inner) for child in reversed(list(_children(node))))

    def _entered(self, node: ast.stmt, name: str, first: int, last: int) -> Function | None:
        """A function whose body has lines of its own; one on a single line is a part of what is around it."""
        below = _below(node)
        if below <= node.lineno:
            return None
        function = Function(name, (first, below - 1), (below, last))
        self.functions.append(function)
        return function

    def _own(self, first: int, last: int, span: Span | None, function: Function | None, is_code: bool) -> None:
        for line in range(first, last + 1):
            self._statement[line] = (span, is_code)
            if function is None:
                self._function.pop(line, None)
            else:
                self._function[line] = function


def _first(node: ast.stmt) -> int:
    decorators = getattr(node, "decorator_list", None) or []
    return min([node.lineno, *(decorator.lineno for decorator in decorators)])


def _below(node: ast.stmt) -> int:
    """The first line of the first statement inside."""
    return min((_first(child) for child in _children(node)), default=node.lineno)


def _children(node: ast.AST) -> Iterator[ast.stmt]:
    """Statements directly inside, those of handlers and cases included."""
    for _, value in ast.iter_fields(node):
        for child in value if isinstance(value, list) else ():
            if isinstance(child, ast.stmt):
                yield child
            elif type(child).__name__ in ("ExceptHandler", "match_case"):
                yield from _children(child)


def _is_text(node: ast.stmt) -> bool:
    """A docstring, or another string that stands by itself."""
    value = getattr(node, "value", None)
    return isinstance(node, ast.Expr) and isinstance(value, ast.Constant) and isinstance(value.value, str)
