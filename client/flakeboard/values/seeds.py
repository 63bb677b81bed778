"""Random numbers of a run: generators are seeded with the run's number, and seeds that a test sets are varied by it."""

from __future__ import annotations

import functools
import os
import random
import sys
from typing import Any, Callable

from flakeboard.values.imports import ImportWatch

_SETTERS = {
    "random": ("seed",),
    "numpy.random": ("seed", "default_rng"),
    "torch": ("manual_seed",),
    "tensorflow.random": ("set_seed",),
}
_LARGEST = 2**32
_OWN = os.path.dirname(os.path.abspath(__file__))


class SeedWatch:
    """Wraps what sets seeds, from before conftests are imported to the end."""

    def __init__(self, root: str, keeps: bool) -> None:
        self._root = root
        self._keeps = keeps
        self._number = 0
        self._unseeded = 0
        """Generators of this run that were made without a seed: each gets its own, so that runs can be repeated."""
        self._imports = ImportWatch(("numpy.random", "torch", "tensorflow"), self._imported)
        self._kept: list[tuple[Any, str, Any]] = []
        self.places: dict[str, None] = {}
        """Where the project's own code sets seeds: file and line."""

    def start(self) -> None:
        self._watch("random", random)
        self._imports.start()

    def stop(self) -> None:
        self._imports.stop()
        for holder, name, original in reversed(self._kept):
            setattr(holder, name, original)
        self._kept = []

    def begin(self, number: int) -> None:
        """Seed all generators there are for the run of this number."""
        self._number, self._unseeded = number, 0
        for holder, name, original in self._kept:
            if name in ("seed", "manual_seed", "set_seed") and holder is not None:
                original(number % _LARGEST)

    def _imported(self, name: str, module: Any) -> None:
        if name == "tensorflow":
            self._watch("tensorflow.random", getattr(module, "random", None))
            return
        self._watch(name, module)
        if name == "numpy.random":
            self._replace(module, "RandomState", self._varied_class(module.RandomState))

    def _watch(self, owner: str, holder: Any) -> None:
        for name in _SETTERS[owner]:
            original = getattr(holder, name, None)
            if original is not None:
                self._replace(holder, name, self._wrapper(original))

    def _replace(self, holder: Any, name: str, replacement: Any) -> None:
        self._kept.append((holder, name, getattr(holder, name)))
        setattr(holder, name, replacement)

    def _wrapper(self, original: Callable[..., Any]) -> Callable[..., Any]:
        takes_none = getattr(original, "__name__", "") == "default_rng"

        @functools.wraps(original)
        def wrapper(*args: Any, **kwargs: Any) -> Any:
            self._note(sys._getframe(1), args, kwargs)
            return original(*self._varied(args, takes_none), **{k: self._plus(v) for k, v in kwargs.items()})

        return wrapper

    def _varied_class(self, original: type) -> type:
        """A class of which instances of the original are instances, too: code that asks for their type goes on."""
        watch = self

        class _Kind(type):
            def __instancecheck__(cls, instance: object) -> bool:
                return isinstance(instance, original)

        def make(self: Any, *args: Any, **kwargs: Any) -> None:
            watch._note(sys._getframe(1), args, kwargs)
            varied = watch._varied(args, not kwargs)
            original.__init__(self, *varied, **{k: watch._plus(v) for k, v in kwargs.items()})

        return _Kind(original.__name__, (original,), {"__init__": make, "__module__": original.__module__})

    def _varied(self, args: tuple[Any, ...], takes_none: bool) -> tuple[Any, ...]:
        if takes_none and (not args or args[0] is None) and not self._keeps:
            self._unseeded += 1
            return ((self._number * 1_000_003 + self._unseeded) % _LARGEST, *args[1:])
        return (self._plus(args[0]), *args[1:]) if args else args

    def _plus(self, seed: Any) -> Any:
        if self._keeps or type(seed) is not int:
            return seed
        return (seed + self._number) % _LARGEST

    def _note(self, frame: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        given = [*args[:1], *kwargs.values()]
        path = frame.f_code.co_filename
        inside = os.path.abspath(path).startswith(self._root + os.sep) and not path.startswith(_OWN)
        if inside and "site-packages" not in path and any(type(value) is int for value in given):
            self.places[f"{os.path.relpath(path, self._root).replace(os.sep, '/')}:{frame.f_lineno}"] = None
