"""The reader's refusals and warnings, each with a stable code."""

from dataclasses import dataclass, field


class Refused(Exception):
    """A file that cannot be read: a stable code, a sentence for people, and the position."""

    def __init__(self, code: str, sentence: str, line: int | None = None, column: int | None = None) -> None:
        super().__init__(code, sentence, line, column)
        self.code = code
        self.sentence = sentence
        self.line = line
        self.column = column

    def __str__(self) -> str:
        place = f" (line {self.line}, column {self.column})" if self.line is not None else ""
        return f"{self.sentence}{place}"

    def as_dict(self) -> dict[str, object]:
        return {"code": self.code, "sentence": self.sentence, "line": self.line, "column": self.column}


def over_limit(name: str, limit: int, what: str) -> Refused:
    """The refusal for an exceeded limit, with the limit's setting and value."""
    setting = f"LIMIT_{name.upper()}"
    return Refused(f"limit_{name}", f"{what}: the limit is {limit:,} ({setting}).")


@dataclass(slots=True)
class Warning:
    """Something odd that did not stop the reading. One for each code: the first sentence, and the count."""

    code: str
    sentence: str
    count: int = 1
    line: int | None = None
    column: int | None = None

    def as_dict(self) -> dict[str, object]:
        place = {"line": self.line, "column": self.column} if self.line is not None else {}
        return {"code": self.code, "sentence": self.sentence, "count": self.count, **place}


@dataclass(slots=True)
class Warnings:
    """Warnings by code, so that a million bad durations make one line with a count."""

    by_code: dict[str, Warning] = field(default_factory=dict)

    def add(self, code: str, sentence: str, line: int | None = None, column: int | None = None, count: int = 1) -> None:
        known = self.by_code.get(code)
        if known is None:
            self.by_code[code] = Warning(code, sentence, count, line, column)
        else:
            known.count += count

    def extend(self, others: "Warnings") -> None:
        for other in others:
            self.add(other.code, other.sentence, other.line, other.column, other.count)

    def __iter__(self):  # type: ignore[no-untyped-def]
        return iter(self.by_code.values())

    def __len__(self) -> int:
        return len(self.by_code)

    def __contains__(self, code: str) -> bool:
        return code in self.by_code
