"""Watches which functions of the project begin: by `sys.monitoring` from Python 3.12 on, by a profile function before.

Each function is told of once a test: from 3.12 on it is woken again by `restart_events`, which wakes every tool of the
process, so nothing is watched beside a tool of somebody else."""

from __future__ import annotations

import sys
import threading
from types import CodeType, FrameType
from typing import Any, Callable

from flakeboard.reach.code_table import FOREIGN, FORK, MODULE, CodeTable
from flakeboard.tracing.clock import frame_at

IDS = (3, 4)
"""Monitoring ids that no tool has reserved; traces take the other one first."""
_OWN = "flakeboard"
_identity = object.__hash__
"""`id` itself is audited, and the hash of a code object goes through all of its code."""


class FunctionWatch:
    """Adds the numbers of functions to `reached`, and files of modules that are run to `loaded`."""

    def __init__(self, table: CodeTable) -> None:
        self._table = table
        self._numbers: dict[int, int] = {}
        self.reached: set[int] = set()
        self.loaded: set[str] = set()
        self.on_child: Callable[[], None] = lambda: None
        self.errors = 0

    def start(self) -> str:
        """Begin to watch; why that cannot be done, if so."""
        raise NotImplementedError

    def arm(self) -> None:
        """From now on each function is told of again."""

    def stop(self) -> None:
        raise NotImplementedError

    def _add(self, code: CodeType, frame: FrameType | None) -> int:
        try:
            number = self._numbers[_identity(code)] = self._table.number(code, frame)
        except Exception:
            self.errors += 1
            return FOREIGN
        if number == MODULE:
            self.loaded.add(self._table.sites.file_of(code.co_filename) or "")
        return number


class MonitoringWatch(FunctionWatch):
    def __init__(self, table: CodeTable) -> None:
        super().__init__(table)
        self._tool = -1

    def start(self) -> str:
        monitoring = sys.monitoring
        if not getattr(sys, "_is_gil_enabled", lambda: True)():
            return "without the GIL functions are not watched"
        tools = {number: monitoring.get_tool(number) for number in range(6)}
        if any(name not in (None, _OWN) for name in tools.values()):
            return "another tool monitors this process"
        tool = next((number for number in IDS if tools[number] is None), None)
        if tool is None:
            return "all monitoring ids are taken"
        self._tool = tool
        monitoring.use_tool_id(tool, _OWN)
        monitoring.register_callback(tool, monitoring.events.PY_START, self._callback())
        monitoring.set_events(tool, monitoring.events.PY_START)
        return ""

    def _callback(self) -> Callable[[CodeType, int], Any]:
        numbers, disable, add = self._numbers, sys.monitoring.DISABLE, self._add
        identity, watch = _identity, self

        def on_start(code: CodeType, offset: int) -> Any:
            number = numbers.get(identity(code))
            if number is None:
                number = add(code, frame_at(1))
            if number >= 0:
                watch.reached.add(number)
            elif number == FORK:
                watch.on_child()
            return disable

        return on_start

    def arm(self) -> None:
        sys.monitoring.restart_events()

    def is_alone(self) -> bool:
        """Whether no tool of somebody else has come since."""
        return all(sys.monitoring.get_tool(number) in (None, _OWN) for number in range(6))

    def stop(self) -> None:
        if self._tool >= 0:
            sys.monitoring.set_events(self._tool, 0)
            sys.monitoring.free_tool_id(self._tool)
            self._tool = -1


class ProfileWatch(FunctionWatch):
    def start(self) -> str:
        if sys.getprofile() is not None:
            return "a profiler runs in this process"
        threading.setprofile(self._on_event)
        sys.setprofile(self._on_event)
        return ""

    def _on_event(self, frame: FrameType, event: str, argument: Any) -> None:
        if event != "call":
            return
        code = frame.f_code
        number = self._numbers.get(_identity(code))
        if number is None:
            number = self._add(code, frame)
        if number >= 0:
            self.reached.add(number)
        elif number == FORK:
            self.on_child()

    def is_alone(self) -> bool:
        return sys.getprofile() == self._on_event

    def stop(self) -> None:
        if sys.getprofile() == self._on_event:
            sys.setprofile(None)
            threading.setprofile(None)  # type: ignore[arg-type]


def watch_of(table: CodeTable) -> Any:
    return MonitoringWatch(table) if sys.version_info >= (3, 12) else ProfileWatch(table)
