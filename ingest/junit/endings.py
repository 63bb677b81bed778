"""Elements inside a case, or directly in a suite, that report failures: their texts and output."""

from ingest.junit.attempts import Element
from ingest.junit.elements import Attributes
from ingest.junit.kept_text import ClippedText, Share
from ingest.junit.times import read_duration


class Endings:
    """The open element, and where incoming text goes."""

    __slots__ = ("_element", "_kept", "_outer", "_share", "sink")

    def __init__(self, share: Share, kept: int) -> None:
        self._share = share
        self._kept = kept
        """Characters to keep of one text."""
        self._element: Element | None = None
        self._outer: list[ClippedText | None] = []
        self.sink: ClippedText | None = None

    def start(self, tag: str, attributes: Attributes) -> Element:
        element = Element(tag, attributes.get("type", "")[:1_000], attributes.get("message", "")[: self._kept])
        if written := attributes.get("time"):
            element.duration = read_duration(written)
        self._element = element
        self._outer = []
        self.sink = self._share.sink(self._kept)
        return element

    def end(self) -> Element | None:
        """The element that ended, complete."""
        element, sink = self._element, self.sink
        if element is not None and sink is not None:
            text = self._share.take(sink)
            element.text = element.text or text
            element.cut = element.cut or sink.cut
        self._element = self.sink = None
        return element

    def start_text(self) -> None:
        self._outer.append(self.sink)
        self.sink = self._share.sink(self._kept)

    def end_text(self) -> str:
        if self.sink is None or not self._outer:
            return ""
        text = self._share.take(self.sink)
        self.sink = self._outer.pop()
        return text

    @property
    def open(self) -> Element | None:
        """The element that has begun and not ended."""
        return self._element

    def end_trace(self) -> None:
        text = self.end_text()
        if self._element is not None:
            self._element.text = text

    def end_output(self, name: str) -> str:
        """End an output: the attempt of the open element keeps it, else it is returned for the case."""
        text = self.end_text()
        if text and self._element is not None:
            setattr(self._element, name, text)
            return ""
        return text
