"""Real order-dependent tests with their partners: IDoFT's odr-tests.csv."""

import csv
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from flakeboard.orders.outcomes import Brittle, OrderDependent, Polluter, Victim
from flakeboard.orders.suite import Case, Suite

from tests.paths import DATA

FILE = DATA / "idoft" / "odr-tests.csv"


class Real(NamedTuple):
    """A test with its partners in their classes; the others change nothing and are left out."""

    name: str
    suite: Suite
    dependent: OrderDependent


def real_tests(file: Path = FILE) -> Iterator[Real]:
    partners: dict[tuple[str, ...], dict[str, set[str]]] = {}
    kinds: dict[tuple[str, ...], str] = {}
    with file.open(newline="", encoding="utf-8") as stream:
        for row in csv.reader(stream):
            *where, test, partner, cleaner, kind = row
            if kind == "OD-test-type":
                continue
            cleaners = partners.setdefault((*where, test), {}).setdefault(partner, set())
            kinds[(*where, test)] = kind
            if cleaner:
                cleaners.add(cleaner)
    for key, by_partner in partners.items():
        yield _real(key[-1], by_partner, kinds[key] == "victim")


def _real(test: str, partners: dict[str, set[str]], is_victim: bool) -> Real:
    names = sorted({test, *partners, *(cleaner for cleaners in partners.values() for cleaner in cleaners)})
    suite = Suite(Case(name, (name.rpartition(".")[0],)) for name in names)
    place = suite.places
    dependent: OrderDependent
    if is_victim:
        polluters = (
            Polluter((place[partner],), tuple(sorted(place[cleaner] for cleaner in cleaners)))
            for partner, cleaners in sorted(partners.items())
        )
        dependent = Victim(place[test], tuple(polluters))
    else:
        dependent = Brittle(place[test], tuple((place[partner],) for partner in sorted(partners)))
    return Real(test, suite, dependent)
