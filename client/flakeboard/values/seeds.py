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
_NAMES = ("seed", "a")
"""Of the argument that is the seed."""
_LARGEST = 2**32
_IMPORTING = "<frozen importlib"
_PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep
"""Of the client, which may lie within the project."""


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
        """Where the project's own code sets seeds, itself or by a library: file and line."""

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
            varied, named = self._varied(args, kwargs, takes_none)
            return original(*varied, **named)

        return wrapper

    def _varied_class(self, original: type) -> type:
        """A class of which instances of the original are instances, too: code that asks for their type goes on."""
        watch = self

        class _Kind(type):
            def __instancecheck__(cls, instance: object) -> bool:
                return isinstance(instance, original)

        def make(self: Any, *args: Any, **kwargs: Any) -> None:
            watch._note(sys._getframe(1), args, kwargs)
            varied, named = watch._varied(args, kwargs, takes_none=True)
            original.__init__(self, *varied, **named)

        return _Kind(original.__name__, (original,), {"__init__": make, "__module__": original.__module__})

    def _varied(
        self, args: tuple[Any, ...], kwargs: dict[str, Any], takes_none: bool
    ) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """The arguments for this run: the seed is the first of them, or has a name; others, as `version`, stay."""
        name = next((name for name in _NAMES if name in kwargs), "")
        seed = kwargs[name] if name else args[0] if args else None
        if takes_none and seed is None and not self._keeps:
            self._unseeded += 1
            seed = (self._number * 1_000_003 + self._unseeded) % _LARGEST
        elif not name and not args:
            return args, kwargs
        else:
            seed = self._plus(seed)
        return (args, {**kwargs, name: seed}) if name else ((seed, *args[1:]), kwargs)

    def _plus(self, seed: Any) -> Any:
        if self._keeps or type(seed) is not int:
            return seed
        return (seed + self._number) % _LARGEST

    def _note(self, frame: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        """The line of the project that sets a seed, or hands one to a library, as in `split(x, random_state=7)`."""
        if not any(type(value) is int for value in [*args[:1], *map(kwargs.get, _NAMES)]):
            return
        while frame is not None and not self._is_own(frame.f_code.co_filename):
            if frame.f_code.co_filename.startswith(_IMPORTING):
                return  # a library sets it while it is imported: nobody gave it a seed
            frame = frame.f_back
        if frame is not None:
            path = os.path.relpath(frame.f_code.co_filename, self._root).replace(os.sep, "/")
            self.places[f"{path}:{frame.f_lineno}"] = None

    def _is_own(self, path: str) -> bool:
        is_inside = os.path.abspath(path).startswith(self._root + os.sep)
        return not path.startswith("<") and is_inside and "site-packages" not in path and not path.startswith(_PACKAGE)
