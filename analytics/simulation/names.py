"""Realistic names for simulated tests, in the style of the producer."""

from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from analytics.kernel.executions import Ints

_AREAS = {
    "checkout": ("Cart", "Payment", "Coupon"),
    "accounts": ("Login", "Password", "Profile"),
    "search": ("Query", "Index", "Ranking"),
    "billing": ("Invoice", "Refund", "Ledger"),
    "orders": ("Shipment", "Return", "Tracking"),
    "inventory": ("Stock", "Warehouse", "Reservation"),
    "messaging": ("Inbox", "Template", "Delivery"),
    "reports": ("Export", "Chart", "Schedule"),
    "sync": ("Queue", "Conflict", "Snapshot"),
    "media": ("Upload", "Thumbnail", "Transcode"),
    "gateway": ("Router", "Throttle", "Session"),
    "storage": ("Bucket", "Archive", "Quota"),
    "catalogue": ("Product", "Variant", "Price"),
    "audit": ("Trail", "Consent", "Retention"),
    "support": ("Ticket", "Macro", "Escalation"),
    "loyalty": ("Points", "Tier", "Voucher"),
}
_OWNERS = ("", "admin", "mobile", "partner", "legacy", "public", "internal")
_VERBS = ("accepts", "adds", "applies", "closes", "counts", "keeps", "lists", "merges", "moves", "opens", "rejects")
_CASES = (
    *("when_empty", "when_full", "when_expired", "when_locked", "when_offline", "when_reloaded"),
    *("with_defaults", "with_discount", "with_duplicates", "with_unicode", "without_owner", "without_permission"),
)
_PACKAGE = "com.example.shop"


class Style(StrEnum):
    """The producer whose style a history's reports have."""

    PYTEST = "pytest"
    SUREFIRE = "surefire"


TestName = tuple[str, str, str, str]
"""suite, class, name, file: as the reader returns them."""


@dataclass(frozen=True, slots=True)
class Names:
    """By test number: its names, suite and class."""

    style: Style
    tests: tuple[TestName, ...]
    suite: Ints
    group: Ints
    """Which class; classes of one suite have neighbouring numbers."""

    def phrase(self, number: int) -> str:
        """The test's subject, in words unique to its messages."""
        _, classname, name, _ = self.tests[number]
        return f"{classname.rpartition('.')[2]} {name.removeprefix('test_')}"


def make_names(style: Style, tests: int, suites: int, joining: Ints, renamed: Ints) -> Names:
    """Names for `tests` tests, for tests added to classes later (`joining`: the class), and for renamed ones."""
    classes = _classes(suites, max(1, min(3, tests // (suites * 10))))
    group = np.concatenate([np.arange(tests) * len(classes) // tests, joining % len(classes)])
    place = _place_in_class(group)
    named = [_named(style, classes[of], at) for of, at in zip(group.tolist(), place.tolist(), strict=True)]
    named += [_renamed(style, named[old]) for old in renamed.tolist()]
    group = np.concatenate([group, group[renamed]])
    areas = list(dict.fromkeys(area for area, _ in classes))
    suite_of_class = np.array([areas.index(area) for area, _ in classes])
    return Names(style, tuple(named), suite_of_class[group], group)


def _classes(suites: int, each: int) -> list[tuple[str, str]]:
    """Area and thing of every class, suite by suite."""
    chosen = []
    for number in range(suites):
        area, things = list(_AREAS.items())[number % len(_AREAS)]
        lap = number // len(_AREAS)
        owner = _OWNERS[lap] if lap < len(_OWNERS) else f"team{lap}"
        name = f"{owner}_{area}" if owner else area
        chosen += [(name, thing) for thing in things[:each]]
    return chosen


def _place_in_class(group: Ints) -> Ints:
    order = np.argsort(group, kind="stable")
    ordered = group[order]
    place = np.empty(len(group), dtype=np.int64)
    place[order] = np.arange(len(group)) - np.searchsorted(ordered, ordered)
    return place


def _named(style: Style, of: tuple[str, str], place: int) -> TestName:
    area, thing = of
    lap, at = divmod(place, len(_VERBS) * len(_CASES))
    words = f"{_VERBS[at % len(_VERBS)]}_{thing.lower()}_{_CASES[at % len(_CASES)]}" + (f"_{lap + 1}" if lap else "")
    if style is Style.PYTEST:
        return "", f"tests.test_{area}.Test{thing}", f"test_{words}", f"tests/test_{area}.py"
    return "", f"{_PACKAGE}.{area}.{thing}Test", _camel(words), ""


def _renamed(style: Style, old: TestName) -> TestName:
    """The same test under a slightly longer name."""
    suite, classname, name, file = old
    return suite, classname, f"{name}_twice" if style is Style.PYTEST else f"{name}Twice", file


def move_names(names: Names, numbers: Ints) -> Names:
    """With names in another module, and so in classes of their own, for these tests of one class."""
    moved = tuple(_moved(names.style, names.tests[number]) for number in numbers)
    size = len(numbers)
    suite = np.concatenate([names.suite, np.full(size, names.suite.max() + 1)])
    return Names(
        names.style, names.tests + moved, suite, np.concatenate([names.group, np.full(size, names.group.max() + 1)])
    )


def _moved(style: Style, old: TestName) -> TestName:
    suite, classname, name, file = old
    if style is Style.PYTEST:
        return suite, classname.replace("tests.", "tests.unit.", 1), name, file.replace("tests/", "tests/unit/", 1)
    return suite, classname.replace(f"{_PACKAGE}.", f"{_PACKAGE}.core.", 1), name, file


def _camel(words: str) -> str:
    first, *rest = words.split("_")
    return first + "".join(word.capitalize() for word in rest)
