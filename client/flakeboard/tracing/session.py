"""Tracing of a process: everything set up once, then a trace for each test that is wanted."""

from __future__ import annotations

import os
import platform
import threading
from typing import Any, Mapping, Sequence

from flakeboard.traces.sources import chosen
from flakeboard.traces.trace import FAILED, PASSED, SKIPPED, SOURCES, Trace
from flakeboard.traces.writer import PREFIX, TraceWriter
from flakeboard.tracing.facts import leak_facts, process_facts, start_facts
from flakeboard.tracing.recipes import Recipe
from flakeboard.tracing.recorder import OWN_CODE, Recorder
from flakeboard.tracing.sites import Sites
from flakeboard.tracing.tokens import Tokens
from flakeboard.tracing.watch import watch_for
from flakeboard.tracing.wrapping import Wrapping

_open = open


class TraceSession:
    """Made once in a process, before tests and conftests are imported."""

    def __init__(
        self,
        rootdir: str,
        code: Sequence[str] = (),
        sources: Sequence[str] = (),
        recipe: Mapping[str, Any] | None = None,
    ) -> None:
        self.notes: list[str] = []
        """Lines for the terminal."""
        self._rootdir = rootdir
        self._tokens = Tokens(b"", rootdir)
        self.recorder = Recorder(Sites(rootdir, code, OWN_CODE), self._tokens)
        table, unknown = chosen(list(sources))
        self.notes += [f"flakeboard_sources drops {name}, which is none" for name in unknown]
        self._wrapping = Wrapping(self.recorder, table)
        self._own_sources = [name for name in sources if not name.startswith("-")]
        self._wrapping.start()
        self.watch: Any = None
        self.level = SOURCES
        self.path = ""
        self._recipe = Recipe(self.recorder, recipe) if recipe else None
        self._writer: TraceWriter | None = None
        self._file: Any = None
        self._process_facts: dict[str, Any] = {}
        self._position = 0
        self._before: list[str] = []
        self._facts: dict[str, Any] = {}
        self._error: BaseException | None = None
        self._failed_at: int | None = None
        self._recipe_is_on = False

    def open(self, folder: str, level: str, key: bytes, worker: str = "") -> None:
        """Begin to trace at this level, by this key, into a file of this folder."""
        self._tokens = self.recorder.tokens = Tokens(key, self._rootdir)
        self.watch, self.level, why = watch_for(level, self.recorder)
        if why:
            self.notes.append(why)
        name = f"{PREFIX}.{worker}.jsonl" if worker else f"{PREFIX}.jsonl"
        self.path = os.path.join(folder, name)
        try:
            self._file = _open(self.path, "w", encoding="utf-8")
        except OSError as error:
            self.notes.append(f"traces cannot be written: {error.strerror or error}")
            return
        self._process_facts = process_facts(self._tokens)
        self._writer = TraceWriter(self._write, self.level, platform.python_version(), worker, self._process_facts)

    def _write(self, line: str) -> None:
        self._file.write(line)
        self._file.flush()

    @property
    def missing_sources(self) -> list[str]:
        """Sources of the project's own settings that were not found."""
        missing = set(self._wrapping.missing)
        return [name for name in self._own_sources if name in missing]

    def close(self) -> None:
        if self.watch is not None:
            self.watch.close()
        self._wrapping.stop()
        if self._file is not None:
            self._file.close()

    # -- a test --------------------------------------------------------------------------------------------------

    def begin(self, test: str, attempt: int) -> None:
        """Start recording. What the machine is like is asked before, so that it takes none of the test's time."""
        before = self._tokens.digest("\n".join(self._before[-3:]).encode("utf-8", "surrogatepass"))
        self._error, self._failed_at = None, None
        self._recipe_is_on = self._recipe is not None and self._recipe.is_for(test)
        if self._recipe_is_on:
            self._recipe.begin()  # type: ignore[union-attr]
        self._facts = {
            **process_facts(self._tokens),
            **start_facts(self._tokens),
            **leak_facts("before"),
            "position": self._position,
            "is_first": self._position == 0,
            "tests_before": before,
            "attempt": attempt,
        }
        if self.watch is not None:
            self.watch.begin()
        self.recorder.begin()

    def fail(self, error: BaseException) -> None:
        """A phase of the test ended with an exception; the first one counts."""
        if self._error is None:
            self._error, self._failed_at = error, self.recorder.since_begin()
            self._facts.update(leak_facts("failure"))

    def end(self, test: str, attempt: int, outcome: str) -> Trace:
        """Stop recording and write the trace."""
        if self.watch is not None:
            self.watch.end()
        recipe = self._recipe.told if self._recipe is not None and self._recipe_is_on else {}
        self.recorder.active = False
        if self._recipe_is_on:
            self._recipe.end()  # type: ignore[union-attr]
        facts = {**self._facts, **leak_facts("after")}
        facts["threads_left"] = max(0, threading.active_count() - int(facts["threads_before"]))
        assert outcome in (PASSED, FAILED, SKIPPED)
        trace = self.recorder.end(test, attempt, outcome, self._error, self._failed_at, facts, recipe)
        self._error = None
        if self._writer is not None:
            self._writer.add(trace, self.recorder.sites.table, self.recorder.sites.functions)
        return trace

    def pass_over(self, test: str) -> None:
        """A test ran, traced or not."""
        self._position += 1
        self._before = [*self._before[-2:], test]
