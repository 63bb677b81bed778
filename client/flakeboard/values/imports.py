"""Modules are seen when they are first imported; nothing is imported for it."""

from __future__ import annotations

import sys
from importlib.machinery import ModuleSpec
from typing import Any, Callable, Sequence


class ImportWatch:
    """A finder that finds nothing itself: it lets the others find, and calls back once the module is executed."""

    def __init__(self, names: Sequence[str], seen: Callable[[str, Any], None]) -> None:
        self._names = set(names)
        self._seen = seen

    def start(self) -> None:
        for name in sorted(self._names):
            if name in sys.modules:
                self._names.discard(name)
                self._seen(name, sys.modules[name])
        sys.meta_path.insert(0, self)  # type: ignore[arg-type]

    def stop(self) -> None:
        if self in sys.meta_path:
            sys.meta_path.remove(self)  # type: ignore[arg-type]

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        if name not in self._names:
            return None
        self._names.discard(name)
        for finder in sys.meta_path:
            find = getattr(finder, "find_spec", None)
            spec = find(name, path, target) if finder is not self and find is not None else None
            if spec is not None:
                if spec.loader is not None and hasattr(spec.loader, "exec_module"):
                    spec.loader = _Loader(spec.loader, lambda module: self._seen(name, module))
                return spec
        return None


class _Loader:
    """The module's own loader, and a call once it has run."""

    def __init__(self, loader: Any, seen: Callable[[Any], None]) -> None:
        self._loader = loader
        self._seen = seen

    def create_module(self, spec: ModuleSpec) -> Any:
        return self._loader.create_module(spec)

    def exec_module(self, module: Any) -> None:
        spec = module.__spec__
        module.__loader__ = spec.loader = self._loader
        self._loader.exec_module(module)
        self._seen(module)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._loader, name)
