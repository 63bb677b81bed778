"""Wrappers around sources, set when tracing starts and for modules that are imported later as they are imported."""

from __future__ import annotations

import functools
import importlib.util
import inspect
import sys
import types
from typing import Any, Callable, Iterable

from flakeboard.traces.sources import Source
from flakeboard.tracing.freezing import FAKED, FREEZEGUN, Clock, Freezing
from flakeboard.tracing.recorder import Recorder
from flakeboard.tracing.roles import SPECIAL

TIME_MACHINE = "time_machine"
"""A library that writes into the built-in functions of `time` themselves: a wrapper in their place would crash it."""
_CLOCKS = ("time", "time_ns", "monotonic", "monotonic_ns", "localtime", "gmtime", "strftime")


class WrappedFunction:
    """A wrapper that, like a built-in function, is no descriptor: `class Timer: now = time.time` must go on working."""

    def __init__(self, call: Callable[..., Any], original: Callable[..., Any]) -> None:
        functools.update_wrapper(self, original)
        self._call = call

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        __tracebackhide__ = True
        return self._call(*args, **kwargs)

    def __reduce__(self) -> str:
        return str(self.__name__)  # type: ignore[attr-defined]

    def __repr__(self) -> str:
        return repr(self.__wrapped__)  # type: ignore[attr-defined]


class Wrapping:
    """Sets the wrappers of a table and takes them off again."""

    def __init__(self, recorder: Recorder, sources: Iterable[Source]) -> None:
        self._recorder = recorder
        self._waiting: dict[str, list[Source]] = {}
        for source in sources:
            self._waiting.setdefault(source.module, []).append(source)
        self._set: list[tuple[Any, str, Any, Any, bool]] = []
        self._absent: list[str] = []
        self._clocks: list[Clock] = []
        self._freezing: Freezing | None = None
        self._finder = _Finder(self)

    @property
    def missing(self) -> list[str]:
        """Names of sources whose module was never imported, or has no such attribute."""
        return [*self._absent, *(source.name for sources in self._waiting.values() for source in sources)]

    def start(self) -> None:
        if TIME_MACHINE in sys.modules:
            self.leave_clocks()
        for module in list(self._waiting):
            if module in sys.modules:
                self.wrap_module(module)
        if FREEZEGUN in sys.modules:
            self.wrap_module(FREEZEGUN)
        sys.meta_path.insert(0, self._finder)  # type: ignore[arg-type]

    def stop(self) -> None:
        """Put the originals back where nobody else has replaced them meanwhile."""
        if self._finder in sys.meta_path:
            sys.meta_path.remove(self._finder)  # type: ignore[arg-type]
        if self._freezing is not None:
            self._freezing.stop()
        for owner, name, original, wrapper, was_own in reversed(self._set):
            if owner.__dict__.get(name) is wrapper:
                setattr(owner, name, original) if was_own else delattr(owner, name)
            package = sys.modules.get(str(getattr(owner, "__name__", "")).rpartition(".")[0])
            if package is not None and package.__dict__.get(name) is wrapper:
                setattr(package, name, original)  # it took the wrapper when it was imported
        self._set = []

    def leave_clocks(self) -> None:
        """Readings of `time` are not recorded where another library changes the clock by force."""
        waiting = self._waiting.get("time", [])
        self._waiting["time"] = [source for source in waiting if source.path not in _CLOCKS]
        clocks = [entry for entry in self._set if entry[0] is sys.modules["time"] and entry[1] in _CLOCKS]
        for entry in clocks:
            self._set.remove(entry)
            setattr(entry[0], entry[1], entry[2])
        if self._freezing is not None:
            self._freezing.leave_clocks()

    def waits_for(self, module: str) -> bool:
        return module in self._waiting or module in (TIME_MACHINE, FREEZEGUN)

    def wrap_module(self, name: str) -> None:
        if name == FREEZEGUN:
            self._freezing = Freezing(self._recorder)
            self._freezing.watch(self._clocks)
            if TIME_MACHINE in sys.modules:
                self._freezing.leave_clocks()
        for source in self._waiting.pop(name, []):
            if not self._wrap(sys.modules[name], source):
                self._absent.append(source.name)

    def _wrap(self, module: Any, source: Source) -> bool:
        *inside, attribute = source.path.split(".")
        owner = module
        for part in inside:
            owner = getattr(owner, part, None)
        original = getattr(owner, attribute, None) if owner is not None else None
        if original is None or not callable(original) or isinstance(original, type):
            return False
        own = owner.__dict__.get(attribute)
        if isinstance(own, (staticmethod, classmethod, property)):
            return False
        wrapper = self._wrapper(source, owner, attribute, original)
        setattr(owner, attribute, wrapper)
        self._set.append((owner, attribute, original, wrapper, own is not None))
        if owner is sys.modules["time"] and attribute in FAKED:
            self._clocks.append(Clock(attribute, original, wrapper))
        if source.module == "asyncio.tasks" or source.module.startswith("concurrent.futures."):
            self._rebind(source, original, wrapper)
        if source.module == "builtins":
            self._rebind_in("io", attribute, original, wrapper)
        return True

    def _rebind(self, source: Source, original: Any, wrapper: Any) -> None:
        """Names that a package has taken from its own module: `asyncio.sleep` is `asyncio.tasks.sleep`."""
        self._rebind_in(source.module.rpartition(".")[0], source.path, original, wrapper)

    def _rebind_in(self, package: str, name: str, original: Any, wrapper: Any) -> None:
        module = sys.modules.get(package)
        if module is not None and module.__dict__.get(name) is original:
            setattr(module, name, wrapper)
            self._set.append((module, name, original, wrapper, True))

    def _wrapper(self, source: Source, owner: Any, name: str, original: Callable[..., Any]) -> Any:
        recorder, inside = self._recorder, owner.__dict__
        special = SPECIAL.get(source.name)
        if special is not None:
            return special(recorder, source, original)
        if inspect.iscoroutinefunction(original):
            return _async_wrapper(recorder, source, original)

        shown: list[Any] = []

        @functools.wraps(original)
        def wrapper(*args: Any, **kwargs: Any) -> Any:
            __tracebackhide__ = True
            if not recorder.active:
                return original(*args, **kwargs)
            if inside.get(name) is not shown[0]:
                recorder.replaced.add(source.name)
                return original(*args, **kwargs)
            return recorder.call(source, original, args, kwargs)

        is_plain = isinstance(original, types.FunctionType) or isinstance(owner, type)
        shown.append(wrapper if is_plain else WrappedFunction(wrapper, original))
        return shown[0]


def _async_wrapper(recorder: Recorder, source: Source, original: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(original)
    async def wrapper(*args: Any, **kwargs: Any) -> Any:
        __tracebackhide__ = True
        if not recorder.active:
            return await original(*args, **kwargs)
        return await recorder.call_async(source, original, args, kwargs)

    return wrapper


class _Finder:
    """Sees the import of a module that has sources; others find and load it, and we wrap what is in it then."""

    def __init__(self, wrapping: Wrapping) -> None:
        self._wrapping = wrapping
        self._busy: set[str] = set()

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        if name in self._busy or not self._wrapping.waits_for(name):
            return None
        self._busy.add(name)
        try:
            spec = importlib.util.find_spec(name)
        except (ImportError, ValueError):
            return None
        finally:
            self._busy.discard(name)
        if spec is not None and spec.loader is not None:
            spec.loader = _Loader(spec.loader, self._wrapping, name)  # type: ignore[assignment]
        return spec


class _Loader:
    def __init__(self, loader: Any, wrapping: Wrapping, name: str) -> None:
        self._loader = loader
        self._wrapping = wrapping
        self._name = name

    def __getattr__(self, name: str) -> Any:
        return getattr(self._loader, name)

    def create_module(self, spec: Any) -> Any:
        return self._loader.create_module(spec)

    def exec_module(self, module: Any) -> None:
        module.__loader__ = self._loader
        module.__spec__.loader = self._loader
        if self._name == TIME_MACHINE:
            self._wrapping.leave_clocks()  # it looks for the built-in functions while it is imported
        self._loader.exec_module(module)
        self._wrapping.wrap_module(self._name)
