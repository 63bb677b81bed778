"""The fast lane of XML formats other than JUnit: reads runs of elements that are written alike from the text.

Most cases of a file differ in the values of their attributes alone. Once the parser has ended one of them, the text
goes on at element level and in the same element: what matches the template of that case holds cases like it."""

import re
from collections import defaultdict
from collections.abc import Callable

from ingest.formats.templates import Run, Template
from ingest.formats.xml import XmlFormat
from ingest.junit.lane import Lane

_SMALL = 16 * 1024
"""Bytes of a document for which a template is worth its making."""
_LONGEST, _MOST_ATTRIBUTES = 8 * 1024, 40
"""Bytes of an element of which a template is made, and its attributes."""
_SHORT_RUN = 8
"""Cases that take as long together as one by one."""
_SHORTEST_WAIT, _LONGEST_WAIT = 256, 256 * 1024


class _Element:
    """An element that comes in runs: the last template that was made of one, and where that one was."""

    def __init__(self) -> None:
        self.template: Template | None = None
        self.place: tuple[str, ...] = ()
        self.made = 0
        self.waits_until = 0
        """The position before which no run is looked for, after there was none."""
        self.waited = 0

    def wait(self, position: int) -> None:
        self.waited = min(2 * self.waited + _SHORTEST_WAIT, _LONGEST_WAIT)
        self.waits_until = position + self.waited


class RunLane(Lane):
    def __init__(self, document: XmlFormat, feed: Callable[[bytes], None]) -> None:
        super().__init__(document, feed)
        names = "|".join(map(re.escape, document.runs))
        self._end = re.compile(rf"</(?:{names})>|<(?:{names})\s[^<>]*+(?<=/)>".encode())
        self._document = document
        self._elements: dict[str, _Element] = defaultdict(_Element)
        self._open = bool(document.runs)
        self._begins = self._size = 0
        """Where the current data begins in the document, and how much of it came."""

    def add(self, chunk: bytes) -> None:
        if not self._size and len(chunk) < _SMALL:
            self._open = False
        self._begins = self._size - len(self._carry)
        self._size += len(chunk)
        super().add(chunk)

    def next_end(self, data: bytes, start: int) -> int:
        found = self._end.search(data, start)
        return found.end() if found else -1

    def take_run(self, data: bytes, at: int) -> int:
        element, position = self._elements[self._document.last_ended], self._begins + at
        if position >= element.waits_until:
            run = self._run(element, data, at)
            if run is not None and run.count >= _SHORT_RUN:
                element.waited = 0
            else:
                element.wait(position)
            if run is not None:
                self._document.take(run)
                return run.end
        soonest = min(each.waits_until for each in self._elements.values())
        self._ahead = max(soonest - position, 0)
        return at

    def _run(self, element: _Element, data: bytes, at: int) -> Run | None:
        place = self._document.place()
        if element.template is not None and element.place == place and (run := element.template.run(data, at)):
            return run
        if element.made * _SMALL > self._size:
            return None
        element.template, element.place = self._learnt(data, at), place
        element.made += element.template is not None
        return element.template.run(data, at) if element.template is not None else None

    def _learnt(self, data: bytes, at: int) -> Template | None:
        """The template of the element that ended at `at`; None if it is not plain."""
        document, name = self._document, self._document.last_ended
        start = data.rfind(f"<{name}".encode(), 0, at)
        if start < 0 or at - start > _LONGEST:
            return None
        try:
            template = Template(data[start:at].decode("utf-8"), document.runs[name])
        except ValueError:  # includes a text that is not UTF-8
            return None
        fits = template.tags[0].name == name and len(template.columns) <= _MOST_ATTRIBUTES
        return template if fits and document.reads_all_of(template) else None
