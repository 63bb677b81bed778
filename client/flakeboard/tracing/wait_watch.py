"""Waits while a test runs: the time values that they are given, and when the condition after a sleep begins to hold."""

from __future__ import annotations

import ast
import inspect
from typing import Any, Callable, Mapping

from flakeboard.tracing.clock import now_ns, sleep
from flakeboard.tracing.recorder import Call, Recorder

_VALUES = 20
"""Values kept of one site."""
_SITES = 200
_EVERY = 0.002


def bound_of(call: Call) -> float | None:
    """The time value that a wait is given, in seconds; None if it has none."""
    bound = call.source.bound
    if bound is None:
        return None
    place, keyword = bound[0] + call.source.is_method, bound[1]
    given = call.kwargs.get(keyword)
    if given is None and len(call.args) > place:
        given = call.args[place]
    return given if isinstance(given, (int, float)) and not isinstance(given, bool) else None


def with_bound(call: Call, seconds: float) -> None:
    """Give a wait another time value, where it has one."""
    bound = call.source.bound
    assert bound is not None
    place, keyword = bound[0] + call.source.is_method, bound[1]
    if keyword in call.kwargs:
        call.kwargs = {**call.kwargs, keyword: seconds}
    else:
        call.args = (*call.args[:place], seconds, *call.args[place + 1 :])


class WaitWatch:
    """Made of the recipe's part `waits`: `{"poll": {"site": [...], "expression": "worker.done"}}`, or nothing."""

    def __init__(self, recorder: Recorder, body: Mapping[str, Any]) -> None:
        self._recorder = recorder
        self._values: dict[int, list[float]] = {}
        poll = body.get("poll")
        self._site = tuple(poll["site"]) if poll else None
        self._code = compile(ast.parse(poll["expression"], mode="eval"), "<condition>", "eval") if poll else None
        self._needed: list[float | None] = []
        """Seconds until the condition held; None if it did not within the sleep."""
        self._broke = ""

    @property
    def seen(self) -> dict[str, Any]:
        """For the trace: numbers, names of the project's code, and at most the type of an exception."""
        table = self._recorder.sites.table
        values = [{"site": list(table[site]), "values": given} for site, given in self._values.items()]
        return {"values": values, "needed": self._needed, "broke": self._broke}

    def before(self, call: Call) -> None:
        given = bound_of(call)
        if given is None:
            return
        if len(self._values) < _SITES:
            values = self._values.setdefault(call.site, [])
            if len(values) < _VALUES:
                values.append(round(float(given), 6))
        if self._code is not None and self._recorder.sites.table[call.site].key == self._site and given > 0:
            call.instead = self._poll

    def _poll(self, original: Callable[..., Any], call: Call) -> Any:
        """Look at the condition until it holds, then sleep what is left: the test takes as long as ever."""
        seconds = bound_of(call) or 0.0
        if inspect.iscoroutinefunction(original):
            return self._poll_async(original, call, seconds)
        began = now_ns()
        left = seconds
        while not self._is_settled(call, began, left):
            sleep(min(_EVERY, left))
            left = seconds - (now_ns() - began) / 1e9
        with_bound(call, max(0.0, seconds - (now_ns() - began) / 1e9))
        return original(*call.args, **call.kwargs)

    async def _poll_async(self, original: Callable[..., Any], call: Call, seconds: float) -> Any:
        began = now_ns()
        left = seconds
        while not self._is_settled(call, began, left):
            await original(min(_EVERY, left))
            left = seconds - (now_ns() - began) / 1e9
        with_bound(call, max(0.0, seconds - (now_ns() - began) / 1e9))
        return await original(*call.args, **call.kwargs)

    def _is_settled(self, call: Call, began: int, left: float) -> bool:
        """Whether there is nothing to wait for: it holds, the time is up, or the condition raised."""
        if self._broke:
            return True
        try:
            holds = bool(eval(self._code, call.frame.f_globals, call.frame.f_locals))  # type: ignore[arg-type]  # noqa: S307
        except Exception as error:
            self._broke = type(error).__name__
            return True
        if holds:
            self._needed.append(round((now_ns() - began) / 1e9, 6))
        elif left <= 0:
            self._needed.append(None)
        return holds or left <= 0
