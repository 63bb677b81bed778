"""freezegun beside our wrappers.

It fakes a clock wherever a module holds the function that it took for the real one. Beside wrappers a clock has two:
the built-in, which modules hold that were imported before, and its wrapper. Both must be faked, and both come back."""

from __future__ import annotations

import functools
import sys
import time
from typing import Any, NamedTuple

from flakeboard.tracing.recorder import Recorder

FREEZEGUN = "freezegun.api"
FAKED = (
    *("time", "localtime", "gmtime", "strftime", "monotonic", "perf_counter"),
    *("time_ns", "monotonic_ns", "perf_counter_ns"),
)


class Clock(NamedTuple):
    name: str
    original: Any
    wrapper: Any


class Freezing:
    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder
        self._api = sys.modules[FREEZEGUN]
        self._clocks: dict[str, Clock] = {}
        self._wrapped: dict[str, Clock] = {}
        self._patched: list[tuple[str, Any]] = []

    def watch(self, clocks: list[Clock]) -> None:
        freezer = getattr(self._api, "_freeze_time", None)
        if freezer is None:
            return
        self._clocks = {clock.name: clock for clock in clocks}
        self._wrapped = dict(self._clocks)
        self._know_both()
        for name, instead in (("start", self._start), ("stop", self._stop)):
            original = freezer.__dict__[name]
            self._patched.append((name, original))
            setattr(freezer, name, instead(original))

    def leave_clocks(self) -> None:
        """The wrappers are gone: none comes back after a freeze."""
        self._wrapped = {}

    def stop(self) -> None:
        self.leave_clocks()
        for name, original in self._patched:
            setattr(self._api._freeze_time, name, original)
        self._patched = []

    def _know_both(self) -> None:
        """It remembers which names of a module are clocks, by the identities that it knows."""
        known = getattr(self._api, "_real_time_object_ids", None)
        if isinstance(known, set):
            known.update(id(each) for clock in self._clocks.values() for each in (clock.original, clock.wrapper))
            getattr(self._api, "_GLOBAL_MODULES_CACHE", {}).clear()

    def _start(self, start: Any) -> Any:
        @functools.wraps(start)
        def wrapper(freezer: Any) -> Any:
            if self._recorder.active:
                self._recorder.replaced.add("freezegun")
            is_first = not self._api.freeze_factories
            factory = start(freezer)
            if is_first:
                self._fake_others(freezer)
            return factory

        return wrapper

    def _stop(self, stop: Any) -> Any:
        @functools.wraps(stop)
        def wrapper(freezer: Any) -> Any:
            stop(freezer)
            if not self._api.freeze_factories:
                for clock in self._wrapped.values():
                    if time.__dict__.get(clock.name) is clock.original:
                        setattr(time, clock.name, clock.wrapper)

        return wrapper

    def _fake_others(self, freezer: Any) -> None:
        names = {id(each): clock.name for clock in self._clocks.values() for each in (clock.original, clock.wrapper)}
        for module_name, (_, attributes) in list(getattr(self._api, "_GLOBAL_MODULES_CACHE", {}).items()):
            module = sys.modules.get(module_name)
            if module is None or module_name.startswith(freezer.ignore):
                continue
            for attribute, value in attributes:
                if id(value) in names and getattr(module, attribute, None) is value:
                    setattr(module, attribute, getattr(time, names[id(value)]))
                    freezer.undo_changes.append((module, attribute, value))
