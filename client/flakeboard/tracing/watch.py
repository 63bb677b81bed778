"""Watching the project's own code: readings of `datetime`, functions that are reached, and every call of a function.

By `sys.monitoring` from Python 3.12 on, by `sys.setprofile` before."""

from __future__ import annotations

import datetime
import sys
import threading
from types import BuiltinMethodType, CodeType, FrameType
from typing import Any

from flakeboard.traces.sources import CLOCK_NAMES
from flakeboard.traces.trace import CALLS, CODE, FUNCTIONS, MAIN, SOURCES
from flakeboard.tracing.clock import frame_at, ident, now_ns, wall
from flakeboard.tracing.recorder import Recorder
from flakeboard.tracing.tokens import is_secret

IDS = (4, 3)
"""Monitoring ids that no tool has reserved."""
_SUSPENDS = 0x20 | 0x80 | 0x200
"""Generators, coroutines and asynchronous generators: they end and begin many times."""
_TYPES = (datetime.datetime, datetime.date)


def watch_for(level: str, recorder: Recorder) -> tuple[Any, str, str]:
    """What watches at this level, the level that can be had, and why it is not the one that was asked for."""
    if sys.version_info < (3, 12):
        return (None if level == SOURCES else ProfileWatch(recorder, level)), level, ""
    if not getattr(sys, "_is_gil_enabled", lambda: True)():
        return None, SOURCES, "" if level == SOURCES else "without the GIL only sources are recorded"
    number = next((number for number in IDS if sys.monitoring.get_tool(number) is None), None)
    if number is None:
        return None, SOURCES, "all monitoring ids are taken, so only sources are recorded"
    others = [other for other in range(6) if other != number and sys.monitoring.get_tool(other) is not None]
    if level == FUNCTIONS and others:
        why = "another tool monitors this process, so functions are not recorded"
        return MonitoringWatch(recorder, SOURCES, number), SOURCES, why
    return MonitoringWatch(recorder, level, number), level, ""


def clock_name(function: Any) -> str:
    """The name of a reading of the clock that cannot be wrapped; empty for any other function."""
    owner = getattr(function, "__self__", None) if isinstance(function, BuiltinMethodType) else None
    if isinstance(owner, type) and issubclass(owner, _TYPES):
        name = getattr(function, "__name__", "")
        if name == "today" and issubclass(owner, datetime.datetime):
            return CLOCK_NAMES["now"]
        return CLOCK_NAMES.get(name, "")
    return ""


def _is_followed(code: CodeType) -> bool:
    """Whether a call of it begins once and ends once, and has a name."""
    return not (code.co_flags & _SUSPENDS or code.co_name.startswith("<"))


class _Calls:
    """Calls of the project's functions that have begun and not ended, by thread."""

    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder
        self._open: dict[int, list[tuple[CodeType, int, str, int, int]]] = {}

    def begin(self, code: CodeType, frame: FrameType) -> None:
        recorder = self._recorder
        state = recorder.state()
        if state is None or not _is_followed(code):
            return
        callee, role = CODE + recorder.sites.name_of(code), recorder.role_of(state)
        caller = recorder.sites.caller(frame.f_back, False)
        if caller is None and role == MAIN:
            return  # the test and its fixtures, which pytest calls
        is_direct = caller is frame.f_back
        site = (
            recorder.sites.outside(code, callee) if caller is None else recorder.sites.site(caller, callee, is_direct)
        )
        entry = (code, site, role, now_ns(), state.spent)
        self._open.setdefault(ident(), []).append(entry)

    def end(self, code: CodeType, value: Any, error: BaseException | None) -> None:
        """What ends without having begun here, as a callback too far from the project's code, ends no other call."""
        entries = self._open.get(ident())
        if not entries or not _is_followed(code):
            return
        place = next((place for place in range(len(entries) - 1, -1, -1) if entries[place][0] is code), None)
        if place is None:
            return
        _, site, role, start, spent = entries[place]
        del entries[place:]
        state = self._recorder.state()
        took = now_ns() - start - (state.spent - spent if state is not None else 0)
        self._recorder.mark(site, role, value, start, max(0, took), error, is_secret(code.co_name))

    def clear(self) -> None:
        self._open = {}


class MonitoringWatch:
    """From Python 3.12 on: costs nothing for code that is not the project's, and little for the project's."""

    def __init__(self, recorder: Recorder, level: str, number: int) -> None:
        self._recorder = recorder
        self._level = level
        self._number = number
        self._calls = _Calls(recorder)
        self._clocked: set[CodeType] = set()
        sys.monitoring.use_tool_id(number, "flakeboard")
        events = sys.monitoring.events
        register = sys.monitoring.register_callback
        register(number, events.PY_START, self._on_start)
        register(number, events.CALL, self._on_call)
        register(number, events.PY_RETURN, self._on_return)
        register(number, events.PY_UNWIND, self._on_unwind)
        if level == FUNCTIONS:
            recorder.reach = set()

    def begin(self) -> None:
        events = sys.monitoring.events
        self._calls.clear()
        wanted = events.PY_START | (events.PY_UNWIND if self._level == CALLS else 0)
        sys.monitoring.set_events(self._number, wanted)
        if self._level == FUNCTIONS:
            sys.monitoring.restart_events()

    def end(self) -> None:
        sys.monitoring.set_events(self._number, 0)

    def close(self) -> None:
        for code in self._clocked:
            sys.monitoring.set_local_events(self._number, code, 0)
        sys.monitoring.set_events(self._number, 0)
        sys.monitoring.free_tool_id(self._number)

    def _on_start(self, code: CodeType, offset: int) -> Any:
        recorder = self._recorder
        if recorder.sites.file_of(code.co_filename) is None:
            return sys.monitoring.DISABLE
        try:
            if code not in self._clocked:
                self._look_closer(code)
            if recorder.active and recorder.reach is not None:
                recorder.reach.add(recorder.sites.function(code))
            if self._level == CALLS and recorder.active:
                self._calls.begin(code, frame_at(1))
                return None
        except Exception:
            recorder.errors += 1
        return None if self._level == CALLS else sys.monitoring.DISABLE

    def _look_closer(self, code: CodeType) -> None:
        """Calls are watched in functions that mention a reading of the clock; returns, at level calls, in all."""
        events = sys.monitoring.events
        self._clocked.add(code)
        local = events.CALL if any(name in CLOCK_NAMES for name in code.co_names) else 0
        if self._level == CALLS:
            local |= events.PY_RETURN
        if local:
            sys.monitoring.set_local_events(self._number, code, local)

    def _on_call(self, code: CodeType, offset: int, function: Any, argument: Any) -> Any:
        name = clock_name(function)
        if not name:
            return sys.monitoring.DISABLE
        recorder = self._recorder
        state = recorder.state() if recorder.active else None
        if state is not None:
            recorder.mark(recorder.sites.site(frame_at(1), name), recorder.role_of(state), wall())
        return None

    def _on_return(self, code: CodeType, offset: int, value: Any) -> Any:
        if self._recorder.active:
            self._calls.end(code, value, None)
        return None

    def _on_unwind(self, code: CodeType, offset: int, error: BaseException) -> Any:
        if self._recorder.active and self._recorder.sites.file_of(code.co_filename) is not None:
            self._calls.end(code, None, error)
        return None


class ProfileWatch:
    """Before Python 3.12: the interpreter's profile function, in every thread."""

    def __init__(self, recorder: Recorder, level: str) -> None:
        self._recorder = recorder
        self._level = level
        self._calls = _Calls(recorder)
        self._before: Any = None
        if level == FUNCTIONS:
            recorder.reach = set()

    def begin(self) -> None:
        self._calls.clear()
        self._before = sys.getprofile()
        if self._before is None:
            threading.setprofile(self._on_event)
            sys.setprofile(self._on_event)

    def end(self) -> None:
        """Off again, unless the test has set a profile function of its own."""
        if sys.getprofile() == self._on_event:
            sys.setprofile(None)
            threading.setprofile(None)  # type: ignore[arg-type]

    def close(self) -> None:
        self.end()

    def _on_event(self, frame: FrameType, event: str, argument: Any) -> None:
        recorder, code = self._recorder, frame.f_code
        if not recorder.active or recorder.sites.file_of(code.co_filename) is None:
            return
        try:
            if event == "call":
                if recorder.reach is not None:
                    recorder.reach.add(recorder.sites.function(code))
                elif self._level == CALLS:
                    self._calls.begin(code, frame)
            elif event == "return" and self._level == CALLS:
                self._calls.end(code, argument, None)
            elif event == "c_call" and self._level == CALLS:
                self._clock(frame, argument)
        except Exception:
            recorder.errors += 1

    def _clock(self, frame: FrameType, function: Any) -> None:
        name = clock_name(function)
        state = self._recorder.state() if name else None
        if state is not None:
            recorder = self._recorder
            recorder.mark(recorder.sites.site(frame, name), recorder.role_of(state), wall())
