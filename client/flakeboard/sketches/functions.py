"""The source of a test by its names, without running anything: by the syntax tree in Python, by brackets elsewhere."""

from __future__ import annotations

import ast
import re
from itertools import islice
from typing import Iterator, NamedTuple

from flakeboard.sketches.languages import Language, without_asides
from flakeboard.sketches.names import function_name

_PAIRS = {"(": ")", "{": "}", "[": "]"}
_TITLED = re.compile(r"\b(?:it|test|specify)(?:\.\w+)*\s*\(\s*(['\"`])((?:(?!\1)[^\\\n]|\\.)*)\1")
_RUBY_TITLED = re.compile(
    r"(?m)^([ \t]*)(?:it|specify|test|scenario)\s*\(?\s*(['\"])((?:(?!\2)[^\\\n]|\\.)*)\2[^\n]*\bdo\b"
)
_CPP_TITLED = re.compile(r"\b(?:TEST_CASE|SCENARIO)\s*\(\s*\"((?:[^\"\\\n]|\\.)*)\"")
_BODY = re.compile(r"(?:[^(){};=]|\([^(){}]{0,200}\))*(?:=\s*[\w.<>]*\s*(?:\([^(){}]{0,200}\)\s*)?)?(?=\{)")
_BRACKETS = {opening: re.compile(re.escape(opening) + "|" + re.escape(end)) for opening, end in _PAIRS.items()}
_MOST_CANDIDATES = 200
"""Places of a file that are looked at for one name."""
_NOT_A_DEFINITION = re.compile(r"(?:\.|\bnew\s|\breturn\s|=)\s*\Z")


class Function(NamedTuple):
    """A test function in a file: its text without comments and strings, and the line that names it."""

    text: str
    line: int


def functions(language: Language, source: str, classname: str, name: str) -> list[Function]:
    """Every function of the file that the names may mean; whoever asks takes it only if it is the only one."""
    if language.name == "python":
        return list(_python(language, source, classname, function_name(name)))
    bare = without_asides(language, source)
    if language.name == "javascript":
        return _titled(source, bare, name)
    if language.name == "ruby":
        return _ruby(source, bare, name)
    if language.name == "cpp":
        return _cpp(source, bare, classname, name)
    return list(_braced(bare, function_name(name), r"\bfunc\s+" if language.name == "go" else ""))


# -- Python ------------------------------------------------------------------------------------------------------


def _python(language: Language, source: str, classname: str, name: str) -> Iterator[Function]:
    classes = classname.split(".")
    lines = without_asides(language, source).split("\n")
    for path, node in python_functions(source):
        if node.name != name or (path and path != classes[-len(path) :]) or (not path and _is_class(classes[-1])):
            continue
        first = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
        yield Function("\n".join(lines[first - 1 : node.end_lineno]), node.lineno)


def _is_class(name: str) -> bool:
    return name[:1].isupper()


def python_functions(source: str) -> Iterator[tuple[list[str], ast.FunctionDef]]:
    """Each function of a file or of its classes, with the names of these."""
    try:
        waiting: list[tuple[list[str], ast.AST]] = [([], ast.parse(source))]
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return
    while waiting:
        path, node = waiting.pop()
        for child in ast.iter_child_nodes(node):
            if isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef)):
                yield path, child  # type: ignore[misc]
            elif isinstance(child, ast.ClassDef):
                waiting.append(([*path, child.name], child))
            elif isinstance(child, (ast.If, ast.Try, ast.With)):
                waiting.append((path, child))


# -- by brackets -------------------------------------------------------------------------------------------------


def _braced(bare: str, name: str, before: str) -> Iterator[Function]:
    """`name(`, its parameters and a body in braces, with what stands before it: annotations, attributes, modifiers."""
    name = name[:-2] if name.endswith("()") else name
    call = before + r"(?<![\w$])`?" + re.escape(name) + r"`?(?:<[^()]{0,200}>)?\s*\("
    for found in islice(re.finditer(call, bare), _MOST_CANDIDATES):
        parameters = closing(bare, found.end() - 1)
        if parameters is None or _NOT_A_DEFINITION.search(bare, max(0, found.start() - 80), found.start()):
            continue
        body = _BODY.match(bare, parameters + 1, parameters + 2_000)
        end = closing(bare, body.end()) if body else None
        if end is not None:
            yield Function(bare[_beginning(bare, found.start()) : end + 1], _line(bare, found.start()))


def closing(bare: str, at: int) -> int | None:
    """The bracket that closes the one at this place; None where there is none."""
    opening, depth = bare[at], 0
    for found in _BRACKETS[opening].finditer(bare, at):
        depth += 1 if found.group() == opening else -1
        if not depth:
            return found.start()
    return None


def _beginning(bare: str, at: int) -> int:
    """Behind the statement or block before; annotations in brackets may hold either."""
    depth = 0
    for place in range(at - 1, max(at - 20_000, -1), -1):
        letter = bare[place]
        if letter in ")]":
            depth += 1
        elif letter in "([":
            depth -= 1
        if depth < 0 or (depth == 0 and letter in ";{}"):
            return place + 1
    return 0


def _line(text: str, at: int) -> int:
    return text.count("\n", 0, at) + 1


# -- by titles ---------------------------------------------------------------------------------------------------


def _titled(source: str, bare: str, name: str) -> list[Function]:
    """`it("title", …)`: the last part of the name; of several titles that end it the longest."""
    found = []
    for match in _TITLED.finditer(source):
        if not _ends(name, _plain(match.group(2))) or len(found) >= _MOST_CANDIDATES:
            continue
        end = closing(bare, bare.find("(", match.start())) if bare[match.start()] == source[match.start()] else None
        if end is not None:
            found.append(
                (_plain(match.group(2)), Function(bare[match.start() : end + 1], _line(source, match.start())))
            )
    return _longest(found, name)


def _longest(found: list[tuple[str, Function]], name: str) -> list[Function]:
    ending = [(title, function) for title, function in found if _ends(name, title)]
    most = max((len(title) for title, _ in ending), default=0)
    return [function for title, function in ending if len(title) == most]


def _ends(name: str, title: str) -> bool:
    return bool(title) and (name == title or (name.endswith(title) and name[-len(title) - 1] in " >›/.:#"))


def _plain(title: str) -> str:
    return re.sub(r"\\(.)", r"\1", title)


def _ruby(source: str, bare: str, name: str) -> list[Function]:
    titled = [
        (_plain(match.group(3)), _to_end(bare, match.start(), match.group(1)))
        for match in _RUBY_TITLED.finditer(source)
        if bare[match.start(1) + len(match.group(1))] == source[match.start(1) + len(match.group(1))]
    ]
    found = _longest(titled, name)
    methods = re.finditer(r"(?m)^([ \t]*)def\s+" + re.escape(name) + r"\b", bare)
    return found or [_to_end(bare, match.start(), match.group(1)) for match in methods]


def _to_end(bare: str, at: int, indent: str) -> Function:
    end = re.compile(r"(?m)^" + re.escape(indent) + r"end\b").search(bare, at)
    return Function(bare[at : end.end() if end else len(bare)], _line(bare, at))


def _cpp(source: str, bare: str, classname: str, name: str) -> list[Function]:
    """`TEST(Suite, Name)` and its kin, whose names may carry parameters; `TEST_CASE("title")`."""
    suite, test = classname.split("/")[-1].split(".")[-1], name.split("/")[0]
    macro = rf"\bTEST(?:_F|_P)?\s*\(\s*{re.escape(suite)}\s*,\s*{re.escape(test)}\s*\)\s*(?=\{{)"
    matches = [(match.start(), match.end()) for match in re.finditer(macro, bare)]
    for match in _CPP_TITLED.finditer(source):
        brace = bare.find("{", match.end())
        if _plain(match.group(1)) == name and brace >= 0:
            matches.append((match.start(), brace))
    ends = [(start, closing(bare, brace)) for start, brace in matches]
    return [Function(bare[start : end + 1], _line(bare, start)) for start, end in ends if end is not None]
