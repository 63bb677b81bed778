"""Reads trace files. Whatever a file holds, the answer is its traces or a refusal with its line: never half a trace."""

from __future__ import annotations

import zlib
from itertools import accumulate
from typing import Any, Callable, Iterable, Mapping

from flakeboard.traces.checks import (
    PLAIN,
    Wrong,
    check_depth,
    check_number,
    check_numbers,
    check_texts,
    index_of,
    list_of,
    number_of,
    numbers_of,
    parsed,
)
from flakeboard.traces.limits import LIMITS, Limits
from flakeboard.traces.trace import LEVELS, OUTCOMES, Events, Function, Site, Token, Trace, TraceFile, Value
from flakeboard.traces.writer import VERSION

MALFORMED, UNKNOWN_VERSION = "trace_malformed", "trace_version"


class Refusal(Exception):
    """Why a file is refused: a code, and the line that it is about."""

    def __init__(self, code: str, line: int, why: str) -> None:
        super().__init__(f"line {line}: {why}")
        self.code = code
        self.line = line


def is_trace(first: bytes) -> bool:
    """Whether a file that begins so is a trace."""
    return first.lstrip()[:24].replace(b" ", b"").startswith(b'{"flakeboard_trace"')


def read_traces(content: bytes, limits: Limits = LIMITS) -> TraceFile:
    """The traces of a file; raises Refusal. A torn last line is what a killed process leaves, and is left out."""
    whole, _, torn = content.rpartition(b"\n")
    lines = whole.split(b"\n") if whole else []
    reading = TraceReading(limits)
    traces = [trace for line in lines if (trace := reading.take(line)) is not None]
    if not lines:
        raise Refusal(MALFORMED, 1, "there is no whole line")
    return reading.file(traces, is_whole=not torn)


class _Unknown(ValueError):
    """A version that this reader does not know."""


class TraceReading:
    """A file read line by line, so that not all of its traces are in memory at once."""

    def __init__(self, limits: Limits = LIMITS) -> None:
        self._limits = limits
        self._head: dict[str, Any] = {}
        self._sites: list[Site] = []
        self._functions: list[Function] = []
        self._tokens: list[Value] = []
        self._seen: set[tuple[str, int]] = set()
        self._too_large: list[tuple[str, int]] = []
        self._left_out = 0
        self.lines = 0

    def take(self, line: bytes) -> Trace | None:
        """The trace of the next line, if it is one that is kept; raises Refusal."""
        self.lines += 1
        try:
            return self._add(self.lines, line)
        except _Unknown as unknown:
            raise Refusal(UNKNOWN_VERSION, self.lines, str(unknown)) from None
        except Wrong as wrong:
            raise Refusal(MALFORMED, self.lines, str(wrong)) from None

    def _add(self, number: int, line: bytes) -> Trace | None:
        if len(line) > self._limits.line:
            raise Wrong(f"the line is longer than {self._limits.line:,} bytes")
        body = parsed(line)
        check_depth(body, self._limits.depth)
        if number == 1:
            self._head = self._checked_head(body)
        elif "test" in body:
            return self._checked_trace(body, line)
        else:
            self._add_rows(body)
        return None

    def file(self, traces: list[Trace], is_whole: bool = True) -> TraceFile:
        """These traces, with the tables as far as they are read."""
        head = self._head
        named = (head["level"], head["python"], head["worker"], head["facts"])
        return TraceFile(*named, self._sites, self._functions, traces, is_whole, tuple(self._too_large), self._left_out)

    # -- the head and the tables ---------------------------------------------------------------------------------

    def _checked_head(self, body: Mapping[str, Any]) -> dict[str, Any]:
        if "flakeboard_trace" not in body:
            raise Wrong("the first line is no head of a trace")
        if body["flakeboard_trace"] != VERSION:
            raise _Unknown("an unknown version of traces")
        level = body.get("level")
        if level not in LEVELS:
            raise Wrong("an unknown level")
        texts = {name: self._text(body.get(name, "")) for name in ("python", "worker")}
        return {"level": level, **texts, "facts": self._facts(body.get("facts", {}))}

    def _add_rows(self, body: Mapping[str, Any]) -> None:
        readers: dict[str, tuple[list[Any], int, Callable[[Any], Any]]] = {
            "sites": (self._sites, self._limits.sites, self._site),
            "functions": (self._functions, self._limits.functions, self._function),
            "tokens": (self._tokens, self._limits.tokens, self._token),
        }
        names = [name for name in readers if name in body]
        if len(names) != 1 or set(body) != {names[0], "from"}:
            raise Wrong("neither a table nor an execution")
        table, most, read = readers[names[0]]
        if body["from"] != len(table) or isinstance(body["from"], bool):
            raise Wrong(f"{names[0]} do not go on where they ended")
        rows = list_of(body[names[0]])
        if table is self._tokens:
            check_numbers(rows)
            table.extend([row if type(row) in PLAIN else read(row) for row in rows])
        else:
            table.extend(map(read, rows))
        if len(table) > most:
            raise Wrong(f"more than {most:,} {names[0]}")

    def _site(self, row: Any) -> Site:
        if len(list_of(row)) != 5:
            raise Wrong("a site has five parts")
        return Site(self._text(row[0]), self._text(row[1]), self._text(row[2]), number_of(row[3]), number_of(row[4]))

    def _function(self, row: Any) -> Function:
        if len(list_of(row)) != 4:
            raise Wrong("a function has four parts")
        return Function(self._text(row[0]), self._text(row[1]), number_of(row[2]), number_of(row[3]))

    def _token(self, row: Any) -> Value:
        if not isinstance(row, dict) or not set(row) <= {"t", "n", "d", "e", "p"} or "t" not in row:
            raise Wrong("a value that is none")
        texts = [self._text(row.get(name, "")) for name in ("d", "e", "p")]
        if len(texts[0]) > 16 or texts[0].strip("0123456789abcdef"):
            raise Wrong("a digest that is none")
        return Token(self._text(row["t"]), number_of(row["n"]) if "n" in row else None, *texts)

    # -- an execution --------------------------------------------------------------------------------------------

    def _checked_trace(self, body: Mapping[str, Any], line: bytes) -> Trace | None:
        key = (self._text(body["test"]), number_of(body.get("attempt", 1)))
        if key in self._seen:
            raise Wrong("a test and attempt twice")
        if len(self._seen) >= self._limits.traces:
            self._left_out += 1
            return None
        self._seen.add(key)
        trace = self._trace(body, *key)
        if len(line) > self._limits.bytes and len(zlib.compress(line)) > self._limits.bytes:
            self._too_large.append(key)
            return None
        return trace

    def _trace(self, body: Mapping[str, Any], test: str, attempt: int) -> Trace:
        limits = self._limits
        if body.get("outcome") not in OUTCOMES:
            raise Wrong("an unknown outcome")
        roles = tuple(self._text(role) for role in list_of(body.get("roles", [])))
        if len(roles) > limits.roles:
            raise Wrong(f"more than {limits.roles:,} roles")
        events = self._events(body, len(roles))
        counts = {}
        for row in list_of(body.get("counts", [])):
            if len(list_of(row)) != 3:
                raise Wrong("a count has three parts")
            counts[index_of(row[0], len(self._sites)), index_of(row[1], len(roles))] = number_of(row[2])
        files = tuple(self._text(name) for name in list_of(body.get("files", [])))
        if len(files) > limits.files:
            raise Wrong(f"more than {limits.files:,} files")
        reach = body.get("reach")
        failed_at = body.get("failed_at")
        return Trace(
            test,
            attempt,
            body["outcome"],
            self._text(body.get("raised", "")),
            None if failed_at is None else number_of(failed_at),
            roles,
            events,
            counts,
            tuple(numbers_of(body.get("symptoms", []), len(events))),
            None if reach is None else tuple(numbers_of(reach, len(self._functions))),
            files,
            self._facts(body.get("facts", {})),
            self._recipe(body.get("recipe", {})),
            number_of(body.get("cut", 0)),
        )

    def _events(self, body: Mapping[str, Any], roles: int) -> Events:
        lengths = {"site": len(self._sites), "role": roles, "value": len(self._tokens), "start": None, "took": None}
        site, role, value, gaps, took = (numbers_of(body.get(name, []), most) for name, most in lengths.items())
        if not len(site) == len(role) == len(value) == len(gaps) == len(took):
            raise Wrong("columns of unequal length")
        if len(site) > self._limits.events:
            raise Wrong(f"more than {self._limits.events:,} events")
        raised: dict[int, Token] = {}
        for place, index in self._sparse(body, "raised_at", len(site)):
            token = self._tokens[index_of(index, len(self._tokens))]
            if not isinstance(token, Token):
                raise Wrong("an exception that is none")
            raised[place] = token
        abouts = {place: self._text(text) for place, text in self._sparse(body, "about", len(site))}
        return Events(site, role, value, list(accumulate(gaps)), took, self._tokens, raised, abouts)

    def _sparse(self, body: Mapping[str, Any], name: str, length: int) -> Iterable[tuple[int, Any]]:
        column = body.get(name, {})
        if not isinstance(column, dict):
            raise Wrong(f"{name} is no table")
        for place, inner in column.items():
            if not (place.isdigit() and place.isascii() and len(place) < 9):
                raise Wrong(f"{name} has a place that is none")
            yield index_of(int(place), length), inner

    def _facts(self, facts: Any) -> dict[str, Any]:
        """Names with plain values; a fact that is a list or a table would be compared with nothing."""
        if not isinstance(facts, dict) or len(facts) > self._limits.facts:
            raise Wrong(f"facts are a table of at most {self._limits.facts}")
        for name, fact in facts.items():
            self._text(name)
            if isinstance(fact, str):
                self._text(fact)
            elif isinstance(fact, (list, dict)):
                raise Wrong("a fact that is no plain value")
            check_number(fact)
        return facts

    def _recipe(self, recipe: Any) -> dict[str, Any]:
        if not isinstance(recipe, dict) or len(recipe) > self._limits.facts:
            raise Wrong("a recipe that is none")
        check_texts(recipe, self._text)
        return recipe

    def _text(self, text: Any) -> str:
        if not isinstance(text, str) or len(text) > self._limits.text:
            raise Wrong(f"a text that is none, or longer than {self._limits.text} characters")
        return text
