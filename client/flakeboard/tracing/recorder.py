"""The recorder: takes calls of sources while a test runs, names their sites and roles, and makes the trace of the test.

An error of recording is counted and swallowed: the result of the wrapped function comes first."""

from __future__ import annotations

import datetime
import threading
import weakref
from typing import Any, Callable, Mapping, Protocol

from flakeboard.traces.sources import Source
from flakeboard.traces.trace import FAILED, MAIN, Token, Trace
from flakeboard.tracing.clock import frame_at, ident, now_ns
from flakeboard.tracing.events import Events, RawEvent, errors_of, finished
from flakeboard.tracing.sites import Sites
from flakeboard.tracing.tokens import Tokens

_MOMENTS = (datetime.datetime, datetime.date)
OTHER = "other"
"""The role of threads that nothing of the project started."""


class Changes(Protocol):
    """What a recipe does to calls: see `flakeboard.tracing.recipes`."""

    def before(self, call: Call) -> None: ...

    def has_role(self, role: str) -> bool: ...

    def begin_role(self, role: str) -> None: ...


class ThreadState:
    """What is known of one thread."""

    __slots__ = ("number", "role", "spent")

    def __init__(self, role: str, number: int) -> None:
        self.role = role
        self.number = number
        """The test that it belongs to; 0 for the main thread, which belongs to all."""
        self.spent = 0
        """Nanoseconds that recording has taken in it."""


class Call:
    """A call of a source that is about to be made; a recipe may change it."""

    __slots__ = (
        *("answer", "args", "delay", "error", "frame", "has_answer"),
        *("instead", "k", "kwargs", "result", "role", "site", "source"),
    )

    def __init__(
        self, source: Source, site: int, role: str, k: int, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> None:
        self.source = source
        self.site = site
        self.role = role
        self.k = k
        self.args = args
        self.kwargs = kwargs
        self.delay = 0.0
        self.has_answer = False
        self.answer: Any = None
        self.error: BaseException | None = None
        self.result: Callable[[Any], Any] | None = None
        """Changes the result of the real call."""
        self.frame: Any = None
        """The frame of the project that calls; only where there is a recipe."""
        self.instead: Callable[[Callable[..., Any], Call], Any] | None = None
        """Takes the real function and this call, in place of the real call; of a coroutine function it makes one."""


class Recorder:
    def __init__(self, sites: Sites, tokens: Tokens) -> None:
        self.active = False
        self.sites = sites
        self.tokens = tokens
        self.changes: Changes | None = None
        self.tasks: weakref.WeakKeyDictionary[Any, str] = weakref.WeakKeyDictionary()
        self.current_task: Callable[[], Any] | None = None
        """Set once a task was made, so that programs without tasks do not pay for them."""
        self.threads: dict[int, ThreadState] = {threading.main_thread().ident or ident(): ThreadState(MAIN, 0)}
        self.number = 0
        self.errors = 0
        self.replaced: set[str] = set()
        self.reach: set[int] | None = None
        self._files: dict[str, None] = {}
        self._events = Events()
        self._starts: dict[tuple[str, str], int] = {}
        self._began = 0

    # -- a test --------------------------------------------------------------------------------------------------

    def begin(self) -> None:
        self.number += 1
        self._events = Events()
        self._starts = {}
        self._files = {}
        self.errors = 0
        self.replaced = set()
        if self.reach is not None:
            self.reach = set()
        self._began = now_ns()
        self.active = True

    def end(self, test: str, attempt: int, outcome: str, error: BaseException | None, failed_at: int | None,
            facts: Mapping[str, Any], recipe: Mapping[str, Any]) -> Trace:  # fmt: skip
        """Stop recording; the trace of the execution."""
        self.active = False
        events = self._events
        kept, counts = events.sorted()
        roles, rows = finished(kept, self._began)
        numbers = {role: number for number, role in enumerate(roles)}
        known = errors_of(error)
        symptoms = tuple(place for place, event in enumerate(kept) if event.error and event.error in known)
        all_facts = dict(facts)
        all_facts["trace_errors"] = self.errors
        if self.replaced:
            all_facts["replaced"] = ",".join(sorted(self.replaced))[:500]
        return Trace(
            test,
            attempt,
            outcome,
            type(error).__name__ if outcome == FAILED and error is not None else "",
            failed_at if outcome == FAILED else None,
            roles,
            rows,
            {(site, numbers.get(role, 0)): count for (site, role), count in counts.items()},
            symptoms,
            None if self.reach is None else tuple(sorted(self.reach)),
            tuple(self._files)[:1_000],
            all_facts,
            recipe,
            events.cut,
        )

    def since_begin(self) -> int:
        """Microseconds since the test began."""
        return (now_ns() - self._began) // 1_000

    # -- roles ---------------------------------------------------------------------------------------------------

    def state(self) -> ThreadState | None:
        """The state of this thread; None if it belongs to no test, or to an earlier one."""
        state = self.threads.get(ident())
        return state if state is not None and state.number in (0, self.number) else None

    def role_of(self, state: ThreadState) -> str:
        if self.current_task is not None:
            task = self.current_task()
            if task is not None:
                return self.tasks.get(task, state.role)
        return state.role

    def new_role(self, parent: str, target: str) -> str:
        """The role of what `parent` starts now: named by who started it and what runs, never by ids of the system."""
        count = self._starts[parent, target] = self._starts.get((parent, target), 0) + 1
        return f"{parent}/{target}#{count}"[:400]

    # -- calls ---------------------------------------------------------------------------------------------------

    def prepare(
        self, source: Source, args: tuple[Any, ...], kwargs: dict[str, Any], frame: Any
    ) -> tuple[Call | None, ThreadState | None]:
        """The call as it will be made; None if it is not recorded."""
        try:
            caller = self.sites.caller(frame, source.direct)
            if caller is None:
                return None, None
            state = self.state()
            if state is None:
                return None, None
            role = self.role_of(state)
            site = self.sites.site(caller, source.name, caller is frame or caller is frame.f_back)
            call = Call(source, site, role, self._events.next_call(site, role), args, kwargs)
            if self.changes is not None:
                call.frame = caller
                self.changes.before(call)
            return call, state
        except Exception:
            self.errors += 1
            return None, None

    def call(self, source: Source, original: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Make a call and record it."""
        __tracebackhide__ = True
        entered = now_ns()
        call, state = self.prepare(source, args, kwargs, frame_at(2))
        if call is None or state is None:
            return original(*args, **kwargs)
        if call.delay:
            from flakeboard.tracing.clock import sleep

            sleep(call.delay)
        start = now_ns()
        spent = state.spent = state.spent + start - entered
        try:
            if call.error is not None:
                raise call.error
            if call.instead is not None:
                result = call.instead(original, call)
            else:
                result = call.answer if call.has_answer else original(*call.args, **call.kwargs)
        except BaseException as error:
            end = now_ns()
            self.record(call, start, end - start - (state.spent - spent), None, error)
            state.spent += now_ns() - end
            raise
        end = now_ns()
        if call.result is not None:
            result = call.result(result)
        self.record(call, start, end - start - (state.spent - spent), result, None)
        state.spent += now_ns() - end
        return result

    async def call_async(
        self, source: Source, original: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> Any:
        """The same for a coroutine; other tasks run meanwhile, so nothing is taken out of its duration."""
        __tracebackhide__ = True
        call, _ = self.prepare(source, args, kwargs, frame_at(2))
        if call is None:
            return await original(*args, **kwargs)
        if call.delay:
            from asyncio.tasks import sleep

            await getattr(sleep, "__wrapped__", sleep)(call.delay)
        start = now_ns()
        try:
            if call.error is not None:
                raise call.error
            if call.instead is not None:
                result = await call.instead(original, call)
            else:
                result = call.answer if call.has_answer else await original(*call.args, **call.kwargs)
        except BaseException as error:
            self.record(call, start, now_ns() - start, None, error)
            raise
        self.record(call, start, now_ns() - start, result, None)
        return result

    def record(self, call: Call, start: int, took: int, result: Any, error: BaseException | None) -> None:
        if not self.active:
            return
        try:
            source = call.source
            raised = self.tokens.exception(error) if error is not None else None
            value = self._value(source, result) if error is None else None
            about = self._about(source, call.args)
            self._events.add(
                RawEvent(call.site, call.role, value, start, took, raised, about, id(error) if error else 0)
            )
        except Exception:
            self.errors += 1

    def _value(self, source: Source, result: Any) -> Any:
        if isinstance(result, _MOMENTS):
            return self.tokens.of(_seconds(result))
        if source.value == "status":
            status = getattr(result, "status", getattr(result, "status_code", None))
            return status if isinstance(status, int) else Token(type(result).__name__)
        return self.tokens.of(result, source.value == "secret")

    def _about(self, source: Source, args: tuple[Any, ...]) -> str:
        place = 1 if source.is_method else 0
        if not source.about or len(args) <= place - (source.module == "pathlib"):
            return ""
        if source.about == "path":
            path = args[0] if source.module == "pathlib" else args[place]
            if source.path in ("open", "Path.open", "Path.read_text", "Path.read_bytes") and self.tokens.is_below_root(
                path
            ):
                self._files[self.tokens.path(path)] = None
            return self.tokens.path(path)
        return self.tokens.address(args[place]) if source.about == "address" else self.tokens.variable(args[place])

    def mark(
        self,
        site: int,
        role: str,
        value: Any = None,
        start: int | None = None,
        took: int = 0,
        error: BaseException | None = None,
        secret: bool = False,
    ) -> None:
        """Record an event that is no call of a source: a role's begin or end, a reading of the clock, a function."""
        if not self.active:
            return
        try:
            raised = self.tokens.exception(error) if error is not None else None
            token = self.tokens.of(value, secret) if error is None else None
            self._events.add(
                RawEvent(
                    site, role, token, now_ns() if start is None else start, took, raised, "", id(error) if error else 0
                )
            )
        except Exception:
            self.errors += 1


def _seconds(moment: datetime.date) -> float:
    """A reading of the clock as seconds since 1970."""
    if isinstance(moment, datetime.datetime):
        return moment.timestamp()
    return datetime.datetime(moment.year, moment.month, moment.day).timestamp()


OWN_CODE = frozenset((Recorder.call.__code__, Recorder.call_async.__code__))
"""Frames that mean: a source is inside another."""


def target_name(target: Any) -> str:
    """The qualified name of what a thread or a pool runs."""
    inner = getattr(target, "func", target)
    name = getattr(inner, "__qualname__", None) or type(inner).__qualname__
    return str(name).replace("/", ".")
