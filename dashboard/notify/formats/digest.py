"""What a day's digest says, and to whom it matters. Pure."""

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, replace

from dashboard.notify.formats.message import Item, Message, clean, item, section

FIX_FIRST = 5
_ALERTS = 30
"""Alerts that are named."""


@dataclass(frozen=True, slots=True)
class Entry:
    """A quarantine or a test with its owner: what a digest may name."""

    text: str
    owner: str = ""
    note: str = ""
    url: str = ""
    tests: tuple[int, ...] = ()
    """Numbers of the tests that it is about."""

    def as_item(self) -> Item:
        owner = f"owner {self.owner}" if self.owner else "no owner"
        return item(self.text, "; ".join(part for part in (self.note, owner) if part), self.url)


@dataclass(frozen=True, slots=True)
class Digest:
    """What happened in a project since the last digest, and what waits for somebody."""

    alerts: tuple[Item, ...] = ()
    """Those that the channel asks for, whoever owns what."""
    proposed: tuple[Entry, ...] = ()
    quarantined: tuple[Entry, ...] = ()
    expiring: tuple[Entry, ...] = ()
    ready: tuple[Entry, ...] = ()
    ended: tuple[Entry, ...] = ()
    """Released, fixed, expired or reopened."""
    flaky: tuple[Entry, ...] = ()
    """Tests that turned flaky."""
    fix_first: tuple[Entry, ...] = ()

    @property
    def is_empty(self) -> bool:
        """What there is to fix first is no news."""
        return not self.alerts and not any(getattr(self, name) for name in _SECTIONS if name != "fix_first")

    def of(self, owner: str) -> "Digest":
        """The part of the digest that concerns one owner."""
        is_owned = same_owner(owner)
        return replace(self, **{name: tuple(filter(is_owned, getattr(self, name))) for name in _SECTIONS})

    def among(self, numbers: Collection[int]) -> "Digest":
        """The part that is about some of these tests."""
        theirs = {
            name: tuple(entry for entry in getattr(self, name) if not {*entry.tests}.isdisjoint(numbers))
            for name in _SECTIONS
        }
        return replace(self, **theirs)

    @property
    def owners(self) -> list[str]:
        """Every owner the digest names, sorted."""
        return sorted({entry.owner for name in _SECTIONS for entry in getattr(self, name) if entry.owner})


_SECTIONS = {
    "proposed": "Proposals that wait for a decision",
    "quarantined": "Newly in quarantine",
    "expiring": "Expiring within 7 days",
    "ready": "Clean long enough to leave",
    "ended": "Left quarantine, or came back",
    "flaky": "Newly flaky",
    "fix_first": "Fix first",
}


def same_owner(owner: str) -> Callable[[Entry], bool]:
    return lambda entry: entry.owner.casefold() == owner.casefold()


@dataclass(frozen=True, slots=True)
class DigestProject:
    """Which project a digest is of."""

    name: str
    slug: str
    url: str


def digest_message(digest: Digest, place: DigestProject, *, day: str, owner: str = "") -> Message:
    """Build the digest's message, independent of any format."""
    sections = {name: getattr(digest, name) for name in _SECTIONS}
    alerts = (section("Alerts", digest.alerts, _ALERTS),) if digest.alerts else ()
    return Message(
        kind="digest",
        project=clean(place.name),
        slug=place.slug,
        title=f"Digest of {day}{f' for {clean(owner, 80)}' if owner else ''}",
        sentence=_sentence(digest),
        sections=(
            *alerts,
            *(section(_SECTIONS[name], _items(entries)) for name, entries in sections.items() if entries),
        ),
        url=place.url,
        owner=clean(owner),
        data={"alerts": len(digest.alerts), **{name: len(entries) for name, entries in sections.items()}},
    )


def _items(entries: Iterable[Entry]) -> list[Item]:
    return [entry.as_item() for entry in entries]


def _sentence(digest: Digest) -> str:
    counted: Sequence[tuple[int, str]] = (
        (len(digest.alerts), "alerts"),
        (len(digest.proposed), "waiting for a decision"),
        (len(digest.quarantined), "newly in quarantine"),
        (len(digest.expiring), "expiring soon"),
        (len(digest.ready), "ready to leave"),
        (len(digest.ended), "ended or reopened"),
        (len(digest.flaky), "newly flaky"),
    )
    summary = ", ".join(f"{count:,} {words}" for count, words in counted if count)
    return f"{summary[:1].upper()}{summary[1:]}." if summary else "Nothing happened."
