"""Roles: threads, pool tasks and asyncio tasks get a name from who started them and what they run."""

from __future__ import annotations

import functools
import sys
from typing import Any, Callable

from flakeboard.traces.sources import Source
from flakeboard.tracing.clock import frame_at, ident
from flakeboard.tracing.recorder import OTHER, Recorder, ThreadState, target_name

END_OF_THREAD, BEGIN_OF_TASK, END_OF_TASK = "end of thread", "begin of task", "end of task"
_ATTRIBUTE = "_flakeboard_role"
_NO_TEST = -1


def _child(recorder: Recorder, frame: Any, target: Any, *marks: str) -> tuple[str, list[int]] | None:
    """The role of what is being started at this frame, and the sites of its own events; None if nobody asks."""
    caller = recorder.sites.caller(frame, False)
    state = recorder.state()
    if caller is None or state is None:
        return None
    role = recorder.new_role(recorder.role_of(state), target_name(target))
    return role, [recorder.sites.site(caller, mark, False) for mark in marks]


def _thread_start(recorder: Recorder, source: Source, original: Callable[..., Any]) -> Callable[..., Any]:
    owner = sys.modules["threading"].Thread  # type: ignore[attr-defined]
    _watch_bootstrap(recorder, owner)

    @functools.wraps(original)
    def start(self: Any) -> Any:
        __tracebackhide__ = True
        if not recorder.active:
            return original(self)
        try:
            target = getattr(self, "_target", None) or type(self).run
            child = _child(recorder, frame_at(1), target, END_OF_THREAD)
            if child is not None:
                setattr(self, _ATTRIBUTE, (child[0], recorder.number, child[1][0]))
        except Exception:
            recorder.errors += 1
        return recorder.call(source, original, (self,), {})

    return start


def _watch_bootstrap(recorder: Recorder, thread: Any) -> None:
    """A thread's role is set where it begins, and its end is recorded where its run has ended."""
    original = getattr(thread._bootstrap_inner, "__wrapped__", thread._bootstrap_inner)

    @functools.wraps(original)
    def bootstrap(self: Any) -> None:
        none = (OTHER, recorder.number if recorder.active else _NO_TEST, None)
        role, number, site = self.__dict__.pop(_ATTRIBUTE, none)
        here = ident()
        recorder.threads[here] = ThreadState(role, number)
        try:
            if recorder.changes is not None and recorder.changes.has_role(role):
                self.run = _delayed(recorder, role, self.run)
            original(self)
        finally:
            if site is not None and recorder.number == number:
                recorder.mark(site, role)
            recorder.threads.pop(here, None)

    thread._bootstrap_inner = bootstrap


def _delayed(recorder: Recorder, role: str, run: Callable[[], None]) -> Callable[[], None]:
    """What a thread runs, after the delay of a recipe; the thread that started it does not wait for that."""

    def delayed() -> None:
        if recorder.changes is not None:
            recorder.changes.begin_role(role)
        run()

    return delayed


def _submit(recorder: Recorder, source: Source, original: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(original)
    def submit(self: Any, fn: Any, /, *args: Any, **kwargs: Any) -> Any:
        __tracebackhide__ = True
        if not recorder.active:
            return original(self, fn, *args, **kwargs)
        try:
            child = _child(recorder, frame_at(1), fn, BEGIN_OF_TASK, END_OF_TASK)
            task = fn if child is None else _PoolTask(recorder, fn, child[0], *child[1])
        except Exception:
            recorder.errors += 1
            task = fn
        return recorder.call(source, original, (self, task, *args), kwargs)

    return submit


class _PoolTask:
    """A function that a pool runs, in a role of its own while it runs."""

    def __init__(self, recorder: Recorder, function: Any, role: str, begin: int, end: int) -> None:
        functools.update_wrapper(self, function, updated=())
        self._recorder = recorder
        self._function = function
        self._role = role
        self._number = recorder.number
        self._sites = begin, end

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        recorder, here = self._recorder, ident()
        before = recorder.threads.get(here)
        recorder.threads[here] = ThreadState(self._role, self._number)
        if recorder.number == self._number:
            recorder.mark(self._sites[0], self._role)
        try:
            if recorder.changes is not None:
                recorder.changes.begin_role(self._role)
            return self._function(*args, **kwargs)
        finally:
            if recorder.number == self._number:
                recorder.mark(self._sites[1], self._role)
            if before is None:
                recorder.threads.pop(here, None)
            else:
                recorder.threads[here] = before


def _create_task(recorder: Recorder, source: Source, original: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(original)
    def create_task(self: Any, coro: Any, **kwargs: Any) -> Any:
        __tracebackhide__ = True
        if not recorder.active:
            return original(self, coro, **kwargs)
        child, inherited = None, ""
        try:
            recorder.current_task = recorder.current_task or _current_task
            state = recorder.state()
            inherited = recorder.role_of(state) if state is not None else ""
            child = _child(recorder, frame_at(1), coro, END_OF_TASK)
        except Exception:
            recorder.errors += 1
        task = recorder.call(source, original, (self, coro), kwargs)
        try:
            if child is not None:
                recorder.tasks[task] = child[0]
                task.add_done_callback(_end_of_task(recorder, child[0], child[1][0], recorder.number))
            elif inherited:
                recorder.tasks[task] = inherited
        except Exception:
            recorder.errors += 1
        return task

    return create_task


def _end_of_task(recorder: Recorder, role: str, site: int, number: int) -> Callable[[Any], None]:
    def end(task: Any) -> None:
        if recorder.number == number:
            recorder.mark(site, role, value=bool(task.cancelled()))

    return end


def _current_task() -> Any:
    asyncio = sys.modules["asyncio"]
    loop = asyncio._get_running_loop()  # type: ignore[attr-defined]
    return asyncio.current_task(loop) if loop is not None else None  # type: ignore[attr-defined]


SPECIAL: dict[str, Callable[[Recorder, Source, Callable[..., Any]], Any]] = {
    "threading.Thread.start": _thread_start,
    "concurrent.futures.ThreadPoolExecutor.submit": _submit,
    "asyncio.BaseEventLoop.create_task": _create_task,
}
