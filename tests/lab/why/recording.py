"""Runs a function of a made project in this process and records it, as a test would be."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from flakeboard.traces.reader import read_traces
from flakeboard.traces.trace import FAILED, PASSED, Site, Trace, TraceFile
from flakeboard.tracing.session import TraceSession

KEY = b"a key of these tests"


class Call(NamedTuple):
    """An event with its site."""

    callee: str
    role: str
    value: Any
    raised: Any
    about: str
    site: Site
    took: int


class Recorded(NamedTuple):
    trace: Trace
    file: TraceFile
    content: bytes
    session: TraceSession
    result: Any

    @property
    def calls(self) -> list[Call]:
        sites, roles = self.file.sites, self.trace.roles
        return [
            Call(
                sites[event.site].callee,
                roles[event.role],
                event.value,
                event.raised,
                event.about,
                sites[event.site],
                event.took,
            )
            for event in self.trace.events
        ]

    def of(self, callee: str) -> list[Call]:
        return [call for call in self.calls if call.callee == callee]


@contextmanager
def session_of(folder: Path, recipe: Mapping[str, Any] | None = None, level: str = "sources", sources: Sequence[str] = (),
               code: Sequence[str] = ()) -> Iterator[TraceSession]:  # fmt: skip
    session = TraceSession(str(folder), code, sources, recipe)
    try:
        session.open(str(folder), level, KEY)
        yield session
    finally:
        session.close()
        for name in [name for name in sys.modules if name.startswith("made_")]:
            del sys.modules[name]


def load(folder: Path, source: str, name: str = "project") -> Any:
    """Import a module of the made project anew."""
    path = folder / f"{name}.py"
    path.write_text(source)
    spec = importlib.util.spec_from_file_location(f"made_{abs(hash(str(folder)))}_{name}", path)
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def run(session: TraceSession, function: Callable[[], Any], test: str = "project.py::test") -> Any:
    """One execution; a failure is the trace's outcome and not ours."""
    session.begin(test, 1)
    outcome, result = PASSED, None
    try:
        result = function()
    except Exception as error:
        outcome = FAILED
        session.fail(error)
    session.end(test, 1, outcome)
    session.pass_over(test)
    return result


def record(folder: Path, source: str, **how: Any) -> Recorded:
    """Record the function `test` of this source."""
    with session_of(folder, **how) as session:
        module = load(folder, source)
        result = run(session, module.test)
    content = Path(session.path).read_bytes()
    file = read_traces(content)
    return Recorded(file.traces[-1], file, content, session, result)
