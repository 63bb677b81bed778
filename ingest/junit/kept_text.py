"""Streaming text, kept up to a limit: its head and tail, within the budget of the whole upload."""


class ClippedText:
    """A text in full, or its start and end: three quarters and one quarter of the limit."""

    __slots__ = ("_head", "_limit", "_parts", "_size", "cut")

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._head = ""
        self._parts: list[str] = []
        self._size = 0
        self.cut = False

    def add(self, data: str) -> None:
        self._parts.append(data)
        self._size += len(data)
        if self._size > 4 * self._limit + 1_024:
            self._shorten()

    def _shorten(self) -> None:
        text = "".join(self._parts)
        if not self.cut:
            head = self._limit * 3 // 4
            self._head, text, self.cut = text[:head], text[head:], True
        tail = self._limit // 4
        self._parts = [text[len(text) - tail :] if len(text) > tail else text]
        self._size = len(self._parts[0])

    def text(self) -> str:
        if not self.cut and self._size <= self._limit:
            return "".join(self._parts)
        self._shorten()
        return f"{self._head}\n[… cut …]\n{self._parts[0]}" if self._limit else ""


class Share:
    """The characters that an upload may still keep."""

    __slots__ = ("left",)

    def __init__(self, total: int) -> None:
        self.left = total

    @property
    def spent(self) -> bool:
        return self.left <= 0

    def sink(self, limit: int) -> ClippedText:
        return ClippedText(0 if self.spent else limit)

    def take(self, sink: ClippedText) -> str:
        text = sink.text()
        self.left -= len(text)
        return text
