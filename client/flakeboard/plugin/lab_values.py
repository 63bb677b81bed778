"""Fingerprints of values: equal for equal contents, bounded in depth and size, and without calling foreign code."""

from __future__ import annotations

import types
from typing import Any, Iterator, Mapping

CACHE = "cache of "
"""Before the name of a function whose cache is meant."""
_DEPTH = 4
_ITEMS = 200
_LETTERS = 500
_PLAIN = (type(None), bool, int, float, complex, str, bytes)
_CODE = (types.FunctionType, types.BuiltinFunctionType, types.MethodType, types.ModuleType, property, staticmethod)
_CODE += (classmethod,)
_NO_STATE = frozenset(["__builtins__", "__cached__", "__doc__", "__loader__", "__spec__", "__warningregistry__"])
_NO_CLASS_STATE = frozenset(
    ["__dict__", "__weakref__", "__doc__", "__annotations__", "__abstractmethods__", "_abc_impl"]
)
_NO_CLASS_STATE |= {"tearDown_exceptions", "_classSetupFailed", "_class_cleanups"}  # unittest's own


def held_by(name: str, namespace: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """State in a module's namespace: its data, that of the classes which it defines, and caches of functions."""
    for own, value in list(namespace.items()):
        if own in _NO_STATE:
            continue
        full = f"{name}.{own}"
        if isinstance(value, type):
            if value.__module__ == name:
                yield from _held_by_class(full, value)
        else:
            yield from _held(full, value)


def _held_by_class(full: str, kind: type) -> Iterator[tuple[str, str]]:
    for own, value in list(type.__getattribute__(kind, "__dict__").items()):
        if isinstance(value, (staticmethod, classmethod)):
            value = value.__func__
        if own not in _NO_CLASS_STATE:
            yield from _held(f"{full}.{own}", value)


def _held(full: str, value: Any) -> Iterator[tuple[str, str]]:
    cached = _cache_of(value)
    if cached:
        yield CACHE + full, cached
    elif not issubclass(type(value), _CODE) and not issubclass(type(value), type):
        yield full, fingerprint(value)


def _cache_of(value: Any) -> str:
    """What functools tells of a cache; it is no code of the project."""
    kind = type(value)
    if kind.__module__ == "functools" and kind.__name__ == "_lru_cache_wrapper":
        return repr(value.cache_info())
    return ""


def fingerprint(value: Any, depth: int = _DEPTH) -> str:
    kind = type(value)
    if kind in _PLAIN:
        return repr(value)[:_LETTERS]
    if issubclass(kind, type):
        return f"class {type.__getattribute__(value, '__qualname__')}"
    if issubclass(kind, _CODE):
        return f"{kind.__name__} {getattr(value, '__qualname__', '') or getattr(value, '__name__', '')}"
    name = f"{kind.__module__}.{kind.__qualname__}"
    if depth == 0:
        return name
    return f"{name}({_inside(value, kind, depth - 1)})"


def _inside(value: Any, kind: type, depth: int) -> str:
    """The contents by the methods of the built-in type, whatever a subclass makes of them."""
    if issubclass(kind, dict):
        pairs = [(fingerprint(key, depth), fingerprint(own, depth)) for key, own in _some(dict.items(value))]
        return f"{dict.__len__(value)} {pairs}"
    for basis in (list, tuple):
        if issubclass(kind, basis):
            return f"{basis.__len__(value)} {[fingerprint(own, depth) for own in _some(basis.__iter__(value))]}"
    for basis in (set, frozenset):
        if issubclass(kind, basis):
            return f"{basis.__len__(value)} {sorted(fingerprint(own, depth) for own in _some(basis.__iter__(value)))}"
    try:
        own = object.__getattribute__(value, "__dict__")
    except AttributeError:
        return ""
    return str([(name, fingerprint(inner, depth)) for name, inner in _some(dict.items(own))])


def _some(values: Any) -> list[Any]:
    found = []
    for value in values:
        if len(found) == _ITEMS:
            break
        found.append(value)
    return found
