"""The trace files of an upload: read line by line, and each execution packed by itself. Pure.

They travel beside the reports. Whatever is wrong with one, no report is harmed by it, and the gate neither passes nor
holds for its sake."""

import io
import zlib
from collections.abc import Callable
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Any

from flakeboard.traces.limits import Limits
from flakeboard.traces.reader import Refusal, TraceReading, is_trace, read_traces
from flakeboard.traces.trace import Event, Token, Trace, TraceFile, Value
from flakeboard.traces.writer import TraceWriter

from ingest.junit.archives.unpacking import DAMAGE, Member
from ingest.junit.problems import Refused, Warnings
from ingest.junit.result_marks import MARKUP, any_marks
from ingest.junit.upload import FileOutcome

KIND = "trace"
DIGEST_BYTES = 16
_HEAD = 256
_PIECE = 1024 * 1024
_PACKED = 512 * 1024 * 1024
"""Bytes of all packed traces of an upload before they are deflated: tables of a file are repeated in each of them."""
_MOST_TEXT = Limits().text
_OWN_OUTCOME = b'"outcome":"fail'


@dataclass(frozen=True, slots=True)
class PackedTrace:
    """One execution, as it is stored."""

    test: str
    """The node id."""
    attempt: int
    outcome: str
    raised: str
    level: str
    python: str
    worker: str
    events: int
    cut: int
    content: bytes
    file: int
    """Which of the upload's trace files it is from."""

    @property
    def digest(self) -> bytes:
        return blake2b(self.content, digest_size=DIGEST_BYTES).digest()


@dataclass(slots=True)
class UploadTraces:
    """Takes the trace files of an upload as they pass, for `read_upload`."""

    limits: Limits = field(default_factory=Limits)
    words: Callable[[str], str] = str
    """What becomes of plain texts: redaction."""
    traces: list[PackedTrace] = field(default_factory=list)
    warnings: list[Warnings] = field(default_factory=list)
    """Of each trace file, in the order of their outcomes."""
    _room: int = _PACKED
    _known_words: dict[str, str] = field(default_factory=dict)

    def __call__(self, member: Member) -> FileOutcome | None:
        """The outcome of a file that is no report; None unless it begins like a trace."""
        try:
            if member.error is not None or not is_trace(member.open().read_exactly(_HEAD)):
                return None
            packed, warnings = self._read(member)
        except Refused as refusal:
            return FileOutcome(member.name, None, refusal, other=KIND)
        except Refusal as refusal:
            refused = Refused(refusal.code, f"The trace is refused: {refusal}.", refusal.line)
            return FileOutcome(member.name, None, refused, other="" if _holds_results(member) else KIND)
        except DAMAGE as error:
            return FileOutcome(
                member.name, None, Refused("archive_damaged", f"The trace cannot be read: {error}."), other=KIND
            )
        self.traces += packed
        self.warnings.append(warnings)
        return FileOutcome(member.name, None, None, other=KIND)

    def _read(self, member: Member) -> tuple[list[PackedTrace], Warnings]:
        reading, packed, warnings = TraceReading(self.limits), [], Warnings()
        stream = io.BufferedReader(member.open(), _PIECE)
        left_out = 0
        while (line := stream.readline(self.limits.line + 2)).endswith(b"\n"):
            trace = reading.take(line[:-1])
            if trace is None:
                continue
            content = None
            if len(self.traces) + len(packed) < self.limits.traces and self._room > 0:
                content = self._pack(reading.file([trace]))
            if content is None:
                left_out += 1
            elif len(content) > self.limits.bytes:
                _add_too_large(warnings, trace.test, self.limits.bytes)
            else:
                packed.append(self._row(reading.file([trace]), content))
        if len(line) > self.limits.line:
            reading.take(line)  # says that it is too long
        if not reading.lines:
            raise Refusal("trace_malformed", 1, "there is no whole line")
        file = reading.file([])
        for test, _ in file.too_large:
            _add_too_large(warnings, test, self.limits.bytes)
        if left_out + file.left_out:
            sentence = f"An upload has room for {self.limits.traces:,} traces (LIMIT_TRACES); the others are left out."
            warnings.add("traces_cut", sentence, count=left_out + file.left_out)
        return packed, warnings

    def _row(self, file: TraceFile, content: bytes) -> PackedTrace:
        (trace,) = file.traces
        return PackedTrace(
            test=trace.test,
            attempt=trace.attempt,
            outcome=trace.outcome,
            raised=self._word(trace.raised),
            level=file.level,
            python=self._word(file.python),
            worker=self._word(file.worker),
            events=len(trace.events),
            cut=trace.cut,
            content=content,
            file=len(self.warnings),
        )

    def _word(self, text: str) -> str:
        known = self._known_words.get(text)
        if known is None:
            known = self._known_words[text] = _storable(self.words(text))[:_MOST_TEXT] if text else ""
        return known

    def _pack(self, file: TraceFile) -> bytes:
        content = written(alone(file, self._word))
        self._room -= len(content)
        return zlib.compress(content)


def _add_too_large(warnings: Warnings, test: str, limit: int) -> None:
    sentence = f"The trace of {test[:200]} has more than {limit:,} bytes (LIMIT_TRACE_BYTES); its result is kept."
    warnings.add("trace_too_large", _storable(sentence))


def _storable(text: str) -> str:
    """Text that PostgreSQL takes, also inside JSON."""
    return text.replace("\0", "").encode("utf-8", "replace").decode("utf-8")


def _holds_results(member: Member) -> bool:
    """Whether a damaged trace has marks of test results in it, as if a report had been appended to it.

    Its own lines begin with a brace and say how tests ended; in any other line every mark counts."""
    stream = io.BufferedReader(member.open(), _PIECE)
    while line := stream.readline(_PIECE):
        own = line.lstrip().startswith(b"{")
        if MARKUP.search(line.replace(_OWN_OUTCOME, b"")) if own else any_marks([line], lines=True):
            return True
    return False


# -- one execution by itself -------------------------------------------------------------------------------------


def alone(file: TraceFile, words: Callable[[str], str] = str) -> TraceFile:
    """The file of its only trace, with those rows of the tables that it uses, and its texts replaced."""
    (trace,) = file.traces
    sites = _Renumbered([event.site for event in trace.events] + [site for site, _ in trace.counts])
    functions = _Renumbered(list(trace.reach or ()))
    moved = trace._replace(
        raised=words(trace.raised),
        roles=tuple(map(words, trace.roles)),
        events=tuple(_event(event, sites, words) for event in trace.events),
        counts={(sites.place[site], role): count for (site, role), count in trace.counts.items()},
        reach=None if trace.reach is None else tuple(functions.place[place] for place in trace.reach),
        files=tuple(map(words, trace.files)),
        facts=_replaced(trace.facts, words),
        recipe=_replaced(trace.recipe, words),
    )
    return file._replace(
        python=words(file.python),
        worker=words(file.worker),
        facts=_replaced(file.facts, words),
        sites=[_with_words(file.sites[place], words) for place in sites.kept],
        functions=[_with_words(file.functions[place], words) for place in functions.kept],
        traces=[moved],
    )


class _Renumbered:
    """The rows of a table that are used, in order of their use."""

    def __init__(self, places: list[int]) -> None:
        self.kept = list(dict.fromkeys(places))
        self.place = {old: new for new, old in enumerate(self.kept)}


def _event(event: Event, sites: _Renumbered, words: Callable[[str], str]) -> Event:
    raised = event.raised
    return event._replace(
        site=sites.place[event.site],
        value=_value(event.value, words),
        raised=None if raised is None else _value(raised, words),  # type: ignore[arg-type]
        about=words(event.about),
    )


def _value(value: Value, words: Callable[[str], str]) -> Value:
    if not isinstance(value, Token):
        return value
    return value._replace(type=words(value.type), errno=words(value.errno), plain=words(value.plain))


def _with_words(row: Any, words: Callable[[str], str]) -> Any:
    """A row of a table with its texts replaced."""
    return type(row)(*(words(part) if isinstance(part, str) else part for part in row))


def _replaced(value: Any, words: Callable[[str], str]) -> Any:
    if isinstance(value, str):
        return words(value)
    if isinstance(value, dict):
        return {words(name): _replaced(inner, words) for name, inner in value.items()}
    if isinstance(value, list):
        return [_replaced(inner, words) for inner in value]
    return value


def written(file: TraceFile) -> bytes:
    """The bytes of a file."""
    lines: list[str] = []
    writer = TraceWriter(lines.append, file.level, file.python, file.worker, file.facts)
    for trace in file.traces:
        writer.add(trace, file.sites, file.functions)
    return "".join(lines).encode("ascii")


def packed_alone(file: TraceFile) -> bytes:
    """The only trace of a file, as it is stored."""
    return zlib.compress(written(alone(file)))


_ANY = 10**9
_STORED = Limits(*(_ANY for _ in range(7)), facts=_ANY, files=_ANY, line=_ANY)
"""What was taken under earlier limits is read again under any."""


def unpacked(content: bytes | memoryview) -> TraceFile:
    """A stored execution: a file with one trace."""
    return read_traces(zlib.decompress(bytes(content)), _STORED)


def trace_of(content: bytes | memoryview) -> tuple[TraceFile, Trace]:
    file = unpacked(content)
    return file, file.traces[0]
