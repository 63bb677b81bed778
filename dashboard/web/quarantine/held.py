"""What other pages say of a test beside its numbers: who owns it, and which quarantine it is in."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from dashboard.quarantine.models import Quarantine
from dashboard.quarantine.owners.store import owner_book
from dashboard.quarantine.selectors import live_quarantines
from ingest.identity import TestName
from ingest.models import Project


@dataclass(frozen=True, slots=True)
class OwnersAndQuarantines:
    owners: Mapping[int, str] = field(default_factory=dict)
    """By test number; of a test that nobody owns, nothing."""
    quarantines: Mapping[int, Quarantine] = field(default_factory=dict)
    """By test number: the proposed or active one."""


def held_of(project: Project, tests: Iterable[TestName]) -> OwnersAndQuarantines:
    """Four queries, however many tests."""
    named = list(tests)
    if not named:
        return OwnersAndQuarantines()
    book = owner_book(project)
    owners = {test.number: owner for test in named if (owner := book.owner(test))}
    return OwnersAndQuarantines(owners, live_quarantines(project.pk, [test.number for test in named]))
