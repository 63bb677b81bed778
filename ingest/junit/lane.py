"""The fast lane: reads runs of plain cases from the text, without the parser.

Nine cases in ten look like `<testcase classname="…" name="…" time="…"/>`, or are as empty between two tags, and follow
each other. Once the parser has ended a case exactly at the last byte it was given, the next byte is at element level:
not in a comment, a CDATA section or another tag. From there a run of such cases can be split as text with the same
result as the parser's. Everything else goes to the parser, and so does a whole file that turns out to be damaged:
positions are off, so it is read again without the lane."""

import re
from collections.abc import Callable
from typing import Protocol

from ingest.junit.target import Target

_CASE_ENDS = (b"/>", b"testcase>")
_PLAIN_ENDS = ("/>", "></testcase>")
"""What stands behind the last attribute of a plain case, without its blanks."""
_OTHER_END = re.compile(rb"</(?!testcase>)")
_ODD_REFERENCE = re.compile(r"&(?!(?:amp|lt|gt|quot|apos);)")
_REFERENCES = (("&lt;", "<"), ("&gt;", ">"), ("&quot;", '"'), ("&apos;", "'"), ("&amp;", "&"))
_CONTROLS = bytes(range(32))
"""XML forbids most of these and reads the others in attributes as spaces, so the parser handles them."""
_BLANK = " \t\r\n"
_STEP = 64
_CARRY_LIMIT = 256 * 1024
_NARROWEST, _WIDEST = 2_048, 1024 * 1024
_LONGEST_WAIT = 4_096
_SHAPES = ({"classname", "name"}, {"classname", "name", "time"})


def has_noncharacter(text: str) -> bool:
    return not text.isascii() and ("\ufffe" in text or "\uffff" in text)


def unescaped(text: str) -> str:
    if "&" in text:
        for reference, character in _REFERENCES:
            text = text.replace(reference, character)
    return text


Columns = tuple[list[str], list[str], list[str]]
"""Classes, names and times; times are empty if the file has none."""


class _Shape:
    """How this file writes a plain case: which attributes, in which order."""

    def __init__(self, attributes: tuple[str, ...]) -> None:
        self._attributes = attributes
        self._separators = [f" {name}=" for name in attributes[1:]]
        self._period = 2 * len(attributes)
        self.opening = f"<testcase {attributes[0]}="
        self._usual = "/>" + self.opening
        """What stood between two cases before, and so may again."""

    def columns(self, text: str) -> Columns | None:
        """The values of a text that consists only of plain cases; None if it does not.

        Split at its quotes, such a text is periodic: value, separator, value, …, and the text between cases."""
        flat, period = text.split('"'), self._period
        if len(flat) % period != 1:
            return None
        if not self._joined_well(flat[0], flat[-1], flat[period:-1:period]):
            return None
        for index, separator in enumerate(self._separators, 1):
            between = flat[2 * index :: period]
            if between.count(separator) != len(between):
                return None
        column = {name: flat[2 * index + 1 :: period] for index, name in enumerate(self._attributes)}
        return _checked(column["classname"], column["name"], column.get("time", []), "".join(flat[1::2]))

    def _joined_well(self, first: str, last: str, between: list[str]) -> bool:
        """Whether cases begin, end and follow each other as plain ones do."""
        if first.strip(_BLANK) != self.opening or not _ends_plainly(last):
            return False
        if between.count(self._usual) == len(between):
            return True
        for joint in set(between):
            end, opening, rest = joint.partition("<testcase ")
            if not _ends_plainly(end) or opening + rest != self.opening:
                return False
        self._usual = between[0]
        return True

    def plain_prefix(self, text: str) -> str:
        """The longest prefix of plain cases, found by bisection, since even long texts are quick to check."""
        starts = [match.start() for match in re.finditer(re.escape(self.opening), text)] + [len(text)]
        good, bad = 0, len(starts)
        while bad - good > 1:
            middle = (good + bad) // 2
            if self.columns(text[: starts[middle]]) is not None:
                good = middle
            else:
                bad = middle
        return text[: starts[good]] if good else ""


def _ends_plainly(text: str) -> bool:
    """Whether a case ends here and holds nothing: Jest and Go write two tags, some with blanks between them."""
    tag, slash, end = text.strip(_BLANK).partition("<")
    return tag.rstrip(_BLANK) + slash + end in _PLAIN_ENDS


def _checked(classes: list[str], names: list[str], times: list[str], values: str) -> Columns | None:
    """The columns as the parser would return them; None if one of their values needs the parser."""
    encoded = values.encode("utf-8")
    if len(encoded.translate(None, _CONTROLS)) != len(encoded) or "<" in values or has_noncharacter(values):
        return None
    if "&" not in values:
        return classes, names, times
    if _ODD_REFERENCE.search(values):
        return None
    return list(map(unescaped, classes)), list(map(unescaped, names)), list(map(unescaped, times))


class CountsCases(Protocol):
    cases_ended: int


class Lane:
    """Divides the bytes between the fast lane and the parser. A subclass takes the runs of plain cases."""

    def __init__(self, target: CountsCases, feed: Callable[[bytes], None]) -> None:
        self._counter = target
        self._feed = feed
        self._carry = b""
        self._synced = False
        self._open = True
        self._ahead = 0
        """Bytes to leave to the parser before the next case is looked for."""

    def take_run(self, data: bytes, at: int) -> int:
        """Take plain cases from `at` on; returns the position of the first thing that is not one."""
        raise NotImplementedError

    def next_end(self, data: bytes, start: int) -> int:
        """The next position where a case may end; -1 for none."""
        raise NotImplementedError

    def add(self, chunk: bytes) -> None:
        if not self._open:
            self._feed(chunk)
            return
        data, at = self._carry + chunk, 0
        self._carry = b""
        while at < len(data):
            if self._synced:
                at = self.take_run(data, at)
                if self._open and data.find(b">", at) < 0 and len(data) - at < _CARRY_LIMIT:
                    self._carry = data[at:]
                    return
            at = self._feed_until_synced(data, at)

    def finish(self) -> None:
        if self._carry:
            self._feed(self._carry)
            self._carry = b""

    # -- the parser's part ---------------------------------------------------------------------------------------

    def _feed_until_synced(self, data: bytes, at: int) -> int:
        """Feed the parser until it ends a case exactly at the last byte it was given.

        The distance to the next try doubles, so that text full of ends takes few calls."""
        self._synced = False
        step, self._ahead = self._ahead, 0
        while at < len(data):
            end = self.next_end(data, at + step) if self._open else -1
            if end < 0:
                self._feed(data[at:])
                return len(data)
            self._feed(data[at : end - 1])
            before = self._counter.cases_ended
            self._feed(data[end - 1 : end])
            at = end
            if self._counter.cases_ended > before:
                self._synced = True
                return at
            step = max(_STEP, 2 * step)
        return at


class CaseLane(Lane):
    """The lane of JUnit."""

    def __init__(self, target: Target, feed: Callable[[bytes], None]) -> None:
        super().__init__(target, feed)
        self._target = target
        self._found: dict[bytes, int] = {}
        """The next position of each kind of end in the current data; -1 for none."""
        self._shape: _Shape | None = None
        self._window = _WIDEST
        """How far ahead to look for a run: odd cases shrink it, plain ones widen it again."""
        self._wait = self._waited = 0
        """Cases to leave to the parser after the lane found nothing; doubles each time."""

    def add(self, chunk: bytes) -> None:
        self._found = {}
        super().add(chunk)

    def next_end(self, data: bytes, start: int) -> int:
        """Each byte is searched once."""
        ends = []
        for needle in _CASE_ENDS:
            at = self._found.get(needle, -2)
            if at != -1 and at < start:
                at = self._found[needle] = data.find(needle, start)
            if at >= 0:
                ends.append(at + len(needle))
        return min(ends, default=-1)

    def take_run(self, data: bytes, at: int) -> int:
        shape = self._shape or self._learn_shape()
        if shape is None or self._waits():
            return at
        end = self._run_end(data, at)
        if end <= at:
            return at
        text = data[at:end].decode("utf-8")
        columns = shape.columns(text)
        if columns is None:
            text = shape.plain_prefix(text)
            columns = shape.columns(text)
            self._window = max(4 * len(text), _NARROWEST)
        else:
            self._window = min(2 * self._window, _WIDEST)
        if columns is None:
            self._waited = self._wait = min(2 * self._waited + 1, _LONGEST_WAIT)
            return at
        self._waited = 0
        self._target.add_plain(*columns)
        return at + (len(text) if text.isascii() else len(text.encode("utf-8")))

    def _learn_shape(self) -> _Shape | None:
        attributes = self._target.last_case_attributes()
        if set(attributes) in _SHAPES:
            self._shape = _Shape(attributes)
        elif len(attributes) > 3:
            self._open = False
        return self._shape

    def _waits(self) -> bool:
        waiting = self._wait > 0
        self._wait -= waiting
        return waiting

    def _run_end(self, data: bytes, at: int) -> int:
        """Where a run of plain cases may end: before the next tag that closes anything but a case, and before the
        case that it is in."""
        edge = min(at + self._window, len(data))
        other = _OTHER_END.search(data, at, edge)
        end = data.rfind(b">", at, other.start() if other else edge) + 1
        last = data.rfind(b"<testcase", at, end)
        if last < 0:
            return at
        tail = data[last:end]
        tags = 1 if tail.endswith(b"/>") else 2 if tail.endswith(b"</testcase>") else 0
        return end if tail.count(b"<") == tags else last
