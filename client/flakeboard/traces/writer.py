"""Writes traces as JSON lines: a head, tables that grow as they are used, and a line for each execution."""

from __future__ import annotations

import json
from typing import Any, Callable, Iterable, Mapping

from flakeboard.traces.limits import LIMITS
from flakeboard.traces.trace import Function, Site, Token, Trace, Value

VERSION = 1
PREFIX = "flakeboard-trace"
"""How the name of a trace file begins; it ends with `.jsonl`."""


class TraceWriter:
    """Writes to a file; each execution is flushed, so that a killed process loses only the one that ran."""

    def __init__(self, write: Callable[[str], object], level: str, python: str, worker: str, facts: Mapping[str, Any]):
        self._write = write
        self._tokens: dict[Any, int] = {}
        self._written = {"sites": 0, "functions": 0}
        self._line({"flakeboard_trace": VERSION, "level": level, "python": python, "worker": worker, "facts": facts})

    def add(self, trace: Trace, sites: list[Site], functions: list[Function]) -> None:
        """Write an execution, and before it whatever the tables have gained."""
        self._grow("sites", sites)
        self._grow("functions", functions)
        values, fresh = self._indices([event.value for event in trace.events])
        raised, more = self._indices([event.raised for event in trace.events if event.raised is not None])
        fresh += more
        if fresh:
            self._line({"tokens": [_written_token(token) for token in fresh], "from": len(self._tokens) - len(fresh)})
        self._line(_body(trace, values, raised))

    def _grow(self, name: str, table: list[Any]) -> None:
        start = self._written[name]
        if len(table) > start:
            self._line({name: [list(row) for row in table[start:]], "from": start})
            self._written[name] = len(table)

    def _indices(self, values: Iterable[Value]) -> tuple[list[int], list[Value]]:
        fresh: list[Value] = []
        found = []
        for value in values:
            key = (type(value), value)  # 1, 1.0 and True are equal and not the same
            index = self._tokens.get(key)
            if index is None:
                index = self._tokens[key] = len(self._tokens)
                fresh.append(value)
            found.append(index)
        return found, fresh

    def _line(self, body: Mapping[str, Any]) -> None:
        self._write(json.dumps(body, separators=(",", ":"), allow_nan=False) + "\n")

    @property
    def is_full(self) -> bool:
        """Whether the tables are near their limits, so that the next traces belong into another file."""
        return len(self._tokens) > LIMITS.tokens - LIMITS.events or self._written["sites"] > LIMITS.sites - 1_000


def _written_token(token: Value) -> Any:
    if not isinstance(token, Token):
        return token
    body: dict[str, Any] = {"t": token.type}
    if token.length is not None:
        body["n"] = token.length
    body.update({key: text for key, text in (("d", token.digest), ("e", token.errno), ("p", token.plain)) if text})
    return body


def _body(trace: Trace, values: list[int], raised: list[int]) -> dict[str, Any]:
    """The line of an execution; columns, since they compress better than rows."""
    events = trace.events
    starts = [event.start for event in events]
    at = [index for index, event in enumerate(events) if event.raised is not None]
    body: dict[str, Any] = {
        "test": trace.test,
        "attempt": trace.attempt,
        "outcome": trace.outcome,
        "roles": list(trace.roles),
        "site": [event.site for event in events],
        "role": [event.role for event in events],
        "value": values,
        "start": [start - before for start, before in zip(starts, [0, *starts])],
        "took": [event.took for event in events],
        "raised_at": {str(index): token for index, token in zip(at, raised)},
        "about": {str(index): event.about for index, event in enumerate(events) if event.about},
        "counts": [[site, role, count] for (site, role), count in trace.counts.items()],
        "symptoms": list(trace.symptoms),
        "files": list(trace.files),
        "facts": dict(trace.facts),
        "recipe": dict(trace.recipe),
        "cut": trace.cut,
    }
    if trace.reach is not None:
        body["reach"] = list(trace.reach)
    if trace.failed_at is not None:
        body.update(raised=trace.raised, failed_at=trace.failed_at)
    return {name: value for name, value in body.items() if value or name in _ALWAYS}


_ALWAYS = ("test", "attempt", "outcome", "roles", "site", "role", "value", "start", "took", "facts", "reach")
