"""Makes mutants of a module, each broken in one place: source in, sources of mutants out.

The operators are cosmic-ray's for single expressions, and three for tables: an entry, an option or a line left out.
Code without effect at run time is not broken: annotations and names of types, docstrings, `__all__`, and options of
`@dataclass` such as `frozen` and `slots`. `return False` becomes True, but not also None."""

import ast
from collections.abc import Callable, Iterator
from dataclasses import dataclass

Change = Callable[[ast.AST], ast.AST]

_COMPARISONS: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
    ast.In: ast.NotIn, ast.NotIn: ast.In, ast.Is: ast.IsNot, ast.IsNot: ast.Is,
}  # fmt: skip
_ARITHMETIC: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.FloorDiv, ast.Div: ast.Mult, ast.FloorDiv: ast.Mult,
}  # fmt: skip
_SILENT_FIELDS = frozenset({"annotation", "returns", "type_params"})
_TABLE_LINES = 4
"""A text of at least this many lines outside of functions is a table."""


@dataclass(frozen=True)
class Mutant:
    module: str
    line: int
    what: str
    source: str


@dataclass(frozen=True)
class _Place:
    node: ast.AST
    in_function: bool


def mutants(module: str, source: str) -> list[Mutant]:
    """All mutants of a module, in source order."""
    return [
        Mutant(module, line, what, _changed(source, place, what))
        for place, (line, words) in enumerate(_words(source))
        for what in words
    ]


def _words(source: str) -> list[tuple[int, list[str]]]:
    places = _places(ast.parse(source), in_function=False)
    return [(getattr(place.node, "lineno", 0), [what for what, _ in _changes(place)]) for place in places]


def _changed(source: str, number: int, what: str) -> str:
    tree = ast.parse(source)
    place = list(_places(tree, in_function=False))[number]
    new = next(change for word, change in _changes(place) if word == what)(place.node)
    if new is not place.node:
        _replace(tree, place.node, new)
    return ast.unparse(ast.fix_missing_locations(tree))


def _places(node: ast.AST, *, in_function: bool) -> Iterator[_Place]:
    """Every node that matters at run time."""
    yield _Place(node, in_function)
    inside = in_function or isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda | ast.ClassDef)
    for name, value in ast.iter_fields(node):
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.AST) and name not in _SILENT_FIELDS and not _is_silent(child):
                yield from _places(child, in_function=inside)


def _is_silent(node: ast.AST) -> bool:
    match node:
        case ast.Expr(value=ast.Constant()) | ast.Call(func=ast.Name(id="dataclass")):
            return True
        case ast.Assign(targets=[ast.Name(id="__all__")]) | ast.Assign(value=ast.Subscript(value=ast.Name(id="tuple"))):
            return True
    return False


# -- what may be done to a node ----------------------------------------------------------------------------------


def _changes(place: _Place) -> Iterator[tuple[str, Change]]:
    """A name for each change, and a function that makes it."""
    node = place.node
    yield from _of_expression(node)
    if isinstance(node, ast.If | ast.IfExp):
        yield "always", lambda there: _with(there, test=ast.Constant(value=True))
        yield "never", lambda there: _with(there, test=ast.Constant(value=False))
    if isinstance(node, ast.Return) and node.value is not None and not _is_word(node.value):
        yield "returns None", lambda there: _with(there, value=ast.Constant(value=None))
    yield from _of_display(node)
    if not place.in_function:
        yield from _of_table(node)


def _of_expression(node: ast.AST) -> Iterator[tuple[str, Change]]:
    match node:
        case ast.Compare() if type(node.ops[0]) in _COMPARISONS:
            ops = [_COMPARISONS[type(node.ops[0])](), *node.ops[1:]]
            yield "comparison", lambda there: _with(there, ops=ops)
        case ast.BoolOp():
            op = ast.Or() if isinstance(node.op, ast.And) else ast.And()
            yield "and/or", lambda there: _with(there, op=op)
        case ast.UnaryOp(op=ast.Not()):
            yield "not", lambda there: node.operand
        case ast.BinOp() if type(node.op) in _ARITHMETIC:
            yield "arithmetic", lambda there: _with(there, op=_ARITHMETIC[type(node.op)]())
        case ast.Constant(value=bool()):
            yield "constant", lambda there: _with(there, value=not node.value)
        case ast.Constant(value=int() | float() as number):
            yield "constant", lambda there: _with(there, value=number + 1)


def _of_display(node: ast.AST) -> Iterator[tuple[str, Change]]:
    """Each element, or entry, left out."""
    if isinstance(node, ast.Tuple | ast.List | ast.Set) and isinstance(getattr(node, "ctx", ast.Load()), ast.Load):
        for place in range(len(node.elts) if len(node.elts) > 1 else 0):
            yield f"without element {place + 1}", lambda there, place=place: _without(there, "elts", place)
    if isinstance(node, ast.Dict):
        for place in range(len(node.keys)):
            yield (
                f"without entry {place + 1}",
                lambda there, place=place: _without(_without(there, "keys", place), "values", place),
            )


def _of_table(node: ast.AST) -> Iterator[tuple[str, Change]]:
    """Each option of a call left out, and each line of a text."""
    if isinstance(node, ast.Call):
        for place, keyword in enumerate(node.keywords):
            yield f"without {keyword.arg}", lambda there, place=place: _without(there, "keywords", place)
    if isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value.count("\n") >= _TABLE_LINES:
        lines = node.value.split("\n")
        for place, line in enumerate(lines):
            if line.strip():
                rest = "\n".join(lines[:place] + lines[place + 1 :])
                yield f"without line {place + 1}", lambda there, rest=rest: _with(there, value=rest)


def _without(node: ast.AST, field: str, place: int) -> ast.AST:
    values = getattr(node, field)
    return _with(node, **{field: values[:place] + values[place + 1 :]})


def _with(node: ast.AST, **fields: object) -> ast.AST:
    for name, value in fields.items():
        setattr(node, name, value)
    return node


def _is_word(node: ast.AST) -> bool:
    """None already; or True and False, which are broken as constants: None is as false as False."""
    return isinstance(node, ast.Constant) and (node.value is None or isinstance(node.value, bool))


def _replace(tree: ast.AST, old: ast.AST, new: ast.AST) -> None:
    for parent in ast.walk(tree):
        for name, value in ast.iter_fields(parent):
            if value is old:
                setattr(parent, name, new)
            elif isinstance(value, list):
                setattr(parent, name, [new if child is old else child for child in value])
