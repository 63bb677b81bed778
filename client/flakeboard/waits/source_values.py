"""Time values in source code: calls that wait, what they are given, and where that comes from. Nothing is executed."""

from __future__ import annotations

import ast
import re
from typing import Iterator, NamedTuple

from flakeboard.waits.search import INTERVAL, SLEEP, TIMEOUT

_SLEEPS = ("time.sleep", "asyncio.sleep", "trio.sleep", "anyio.sleep", "gevent.sleep")
_FIRST = {
    "wait": TIMEOUT,
    "join": TIMEOUT,
    "result": TIMEOUT,
    "exception": TIMEOUT,
    "settimeout": TIMEOUT,
    "implicitly_wait": TIMEOUT,
    "timeout": TIMEOUT,
    "move_on_after": TIMEOUT,
    "fail_after": TIMEOUT,
    "stop_after_delay": TIMEOUT,
    "wait_fixed": INTERVAL,
}
"""Methods and functions whose first argument is a time: `event.wait(5)`, `pytest.mark.timeout(5)`, tenacity's."""
_SECOND = {"wait_for": TIMEOUT, "WebDriverWait": TIMEOUT}
_KEYWORDS = {"timeout": TIMEOUT, "step": INTERVAL, "poll_frequency": INTERVAL, "interval": INTERVAL}
"""`timeout=` bounds any call; the others are of polling2, Selenium and functions that wait."""
_WAITS = re.compile(r"(wait|eventually|poll|retry)", re.IGNORECASE)
_TIMES = re.compile(r"(timeout|delay|wait|sleep|seconds|secs|interval|pause|deadline)", re.IGNORECASE)
_LONGEST = 120


class SourceValue(NamedTuple):
    line: int
    end: int
    function: str
    """Qualified name of the function that it is in."""
    callee: str
    """As far as imports tell it: `time.sleep`, else as it is written."""
    kind: str
    value: float | None
    """None if it is no number in this file."""
    origin: str
    """Where the value comes from: "written there", "WAIT, line 3", "parameter timeout", or the expression."""


def source_values(text: str) -> list[SourceValue]:
    """All of a file, by line; none of a file that is no Python."""
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError):
        return []
    return sorted(_Reader(tree, text).values())


class _Reader:
    def __init__(self, tree: ast.Module, text: str) -> None:
        self._tree = tree
        self._text = text
        self._names = _imported(tree)
        self._constants = {
            target.id: (node.value.value, node.lineno)
            for node in tree.body
            if isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant)
            for target in node.targets
            if isinstance(target, ast.Name)
        }

    def values(self) -> Iterator[SourceValue]:
        yield from self._walk(self._tree, "", None, False)

    def _walk(self, node: ast.AST, prefix: str, function: ast.AST | None, in_while: bool) -> Iterator[SourceValue]:
        for child in ast.iter_child_nodes(node):
            inner, owner, loop = prefix, function, in_while or isinstance(child, ast.While)
            if isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
                inner = (
                    f"{prefix}.<locals>.{child.name}"
                    if prefix and function is not None
                    else _joined(prefix, child.name)
                )
                owner = None if isinstance(child, ast.ClassDef) else child
                loop = False
            if isinstance(child, ast.Call):
                found = self._call(child, prefix, function, in_while)
                if found is not None:
                    yield found
            yield from self._walk(child, inner, owner, loop)

    def _call(self, call: ast.Call, prefix: str, function: ast.AST | None, in_while: bool) -> SourceValue | None:
        callee = self._callee(call.func)
        last = callee.rpartition(".")[2]
        argument, kind = None, ""
        if callee in _SLEEPS and (call.args or call.keywords):
            argument, kind = call.args[0] if call.args else call.keywords[0].value, INTERVAL if in_while else SLEEP
        for keyword in call.keywords:
            is_wait = keyword.arg == "timeout" or (keyword.arg in _KEYWORDS and _WAITS.search(last))
            if not kind and is_wait and not _is_none(keyword.value):
                argument, kind = keyword.value, _KEYWORDS[str(keyword.arg)]
        if not kind and last in _FIRST and call.args and self._is_time(call.args[0]):
            argument, kind = call.args[0], _FIRST[last]
        if not kind and last in _SECOND and len(call.args) > 1 and not _is_none(call.args[1]):
            argument, kind = call.args[1], _SECOND[last]
        if argument is None:
            return None
        value, origin = self._origin(argument, function)
        end = getattr(call, "end_lineno", None) or call.lineno
        return SourceValue(call.lineno, end, prefix or "<module>", callee, kind, value, origin)

    def _callee(self, node: ast.AST) -> str:
        if isinstance(node, ast.Name):
            return self._names.get(node.id, node.id)
        if isinstance(node, ast.Attribute):
            return _joined(self._callee(node.value), node.attr)
        return ""

    def _is_time(self, node: ast.AST) -> bool:
        """A number, or a name that sounds like a time: `", ".join(names)` waits for nothing."""
        if isinstance(node, ast.Constant):
            return isinstance(node.value, (int, float)) and not isinstance(node.value, bool)
        words = node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""
        return bool(_TIMES.search(words))

    def _origin(self, node: ast.AST, function: ast.AST | None) -> tuple[float | None, str]:
        if isinstance(node, ast.Constant) and _is_number(node.value):
            return float(node.value), "written there"
        if isinstance(node, ast.Name):
            if function is not None and node.id in _parameters(function):
                default = _parameters(function)[node.id]
                return default, f"parameter {node.id}"
            if node.id in self._constants:
                value, line = self._constants[node.id]
                return (float(value) if _is_number(value) else None), f"{node.id}, line {line}"
        segment = ast.get_source_segment(self._text, node) or ""  # type: ignore[arg-type]
        return None, " ".join(segment.split())[:_LONGEST]


def _joined(prefix: str, name: str) -> str:
    return f"{prefix}.{name}" if prefix else name


def _is_none(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and node.value is None


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _parameters(function: ast.AST) -> dict[str, float | None]:
    """Parameters of a function, with their default where that is a number."""
    arguments = getattr(function, "args", None)
    if arguments is None:
        return {}
    plain = [*arguments.posonlyargs, *arguments.args]
    defaults = [None] * (len(plain) - len(arguments.defaults)) + list(arguments.defaults)
    pairs = [*zip(plain, defaults), *zip(arguments.kwonlyargs, arguments.kw_defaults)]
    found: dict[str, float | None] = {}
    for argument, default in pairs:
        number = default.value if isinstance(default, ast.Constant) and _is_number(default.value) else None
        found[argument.arg] = None if number is None else float(number)
    return found


def _imported(tree: ast.Module) -> dict[str, str]:
    """Name in this file -> what it is elsewhere."""
    names: dict[str, str] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names.update({alias.asname: alias.name for alias in node.names if alias.asname})
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names.update({alias.asname or alias.name: f"{node.module}.{alias.name}" for alias in node.names})
    return names
