"""What is said, whatever the format: a title, a sentence, facts, and lists. Pure.

Names come from anywhere. Here they lose control characters and line breaks and are cut to a bounded length; each format
escapes them in its own way."""

import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

TITLE = 150
TEXT = 300
LONG = 1_000
ITEMS = 10
"""Items of a list that are named; the rest is counted."""


def clean(text: str, longest: int = TEXT) -> str:
    """Reduce text to one printable line without control characters or direction marks."""
    kept = "".join(
        letter for letter in text[: longest * 4] if letter.isspace() or unicodedata.category(letter) not in _HIDDEN
    )
    line = " ".join(kept.split())
    return line if len(line) <= longest else line[: longest - 1] + "…"


_HIDDEN = ("Cc", "Cf", "Cs", "Co", "Cn")


@dataclass(frozen=True, slots=True)
class Item:
    """Something in a list: a test, a cluster, a quarantine."""

    text: str
    note: str = ""
    url: str = ""


@dataclass(frozen=True, slots=True)
class Section:
    title: str
    items: tuple[Item, ...]
    more: int = 0
    """How many are not named."""


@dataclass(frozen=True, slots=True)
class Message:
    kind: str
    """As `Notification.Kind` says it; `digest`, `gathered` or `test` besides."""
    project: str
    slug: str
    title: str
    sentence: str = ""
    """Why: the evidence."""
    facts: tuple[tuple[str, str], ...] = ()
    sections: tuple[Section, ...] = ()
    url: str = ""
    owner: str = ""
    severity: str = ""
    """As `Severity` says it; empty for digests and test messages."""
    data: Mapping[str, Any] | None = None
    """For programs: ids and numbers."""

    def as_json(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> "Message":
        sections = (
            Section(section["title"], tuple(Item(**item) for item in section["items"]), section["more"])
            for section in values["sections"]
        )
        facts = tuple((name, value) for name, value in values["facts"])
        return cls(**{**values, "facts": facts, "sections": tuple(sections)})


def section(title: str, items: Sequence[Item], most: int = ITEMS) -> Section:
    """A list of the first items, and how many more there are."""
    return Section(title, tuple(items[:most]), max(0, len(items) - most))


def item(text: str, note: str = "", url: str = "") -> Item:
    """With texts made fit to be shown."""
    return Item(clean(text), clean(note), url)


def more_line(section: Section) -> str:
    return f"and {section.more:,} more" if section.more else ""
