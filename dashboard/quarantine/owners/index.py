"""Which tests each owner has, and which rule says so of how many: of a whole project, kept while nothing changes."""

from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from django.db.models import Count, Max

from analytics.history.names import numbers_matching
from analytics.kernel.executions import Ints
from dashboard.quarantine.models import CodeOwnersFile, OwnerPattern, TestOwner
from dashboard.quarantine.owners.rules import OwnerAnswer, OwnerBook
from dashboard.quarantine.owners.store import owner_book
from ingest.identity import TestName
from ingest.models import Project, Report, Test


@dataclass(frozen=True, slots=True)
class OwnerIndex:
    by_owner: Mapping[str, Ints]
    """An owner in small letters -> numbers of tests, ascending."""
    by_rule: Mapping[tuple[str, int], int]
    """What says so, and at which place: how many tests it decides."""
    tests: int
    nobodys: int

    def numbers(self, owner: str) -> Ints:
        """The tests that are somebody's, alone or with others."""
        return self.by_owner.get(owner.casefold(), np.zeros(0, dtype=np.int64))


def owned(project: Project) -> OwnerIndex:
    return _owned(project.pk, owners_version(project.pk))


def asked_numbers(project: Project, text: str, owner: str) -> Ints | None:
    """The tests with these words in their names and of this owner; None where neither is asked."""
    named = numbers_matching(project.pk, text) if text else None
    if not owner:
        return named
    theirs = owned(project).numbers(owner)
    return theirs if named is None else np.intersect1d(named, theirs)


def owners_version(project_id: int) -> object:
    """Another one wherever an owner may be another one: after new rules, new tests and new reports."""
    files = CodeOwnersFile.objects.filter(project_id=project_id).values_list("updated_at", "syntax").first()
    patterns = OwnerPattern.objects.filter(project_id=project_id).values_list("field", "pattern", "owner")
    by_hand = TestOwner.objects.filter(test__project_id=project_id).order_by("pk").values_list("test_id", "owner")
    tests = Test.in_ci.filter(project_id=project_id, alias_of=None).aggregate(Count("pk"), Max("number"))
    newest = Report.objects.filter(project_id=project_id).order_by("-placed_at", "-id").values_list("pk").first()
    return files, tuple(patterns), tuple(by_hand), tuple(tests.values()), newest


@lru_cache(maxsize=8)
def _owned(project_id: int, version: object) -> OwnerIndex:
    rule = RuleOfMany(owner_book(Project(pk=project_id)))
    rows = Test.in_ci.filter(project_id=project_id, alias_of=None).order_by("number")
    of: dict[str, list[int]] = defaultdict(list)
    rules: Counter[tuple[str, int]] = Counter()
    tests = nobodys = 0
    for number, suite, classname, file in rows.values_list("number", "suite", "classname", "file"):
        ruled = rule.of(TestName(number, suite, classname, file=file))
        tests, nobodys = tests + 1, nobodys + (not ruled.owner)
        rules.update((ruled.by, place) for place in ruled.places or (0,))
        for owner in {ruled.owner.casefold(), *ruled.owner.casefold().split()}:
            of[owner].append(number)
    return OwnerIndex({owner: np.array(numbers) for owner, numbers in of.items() if owner}, rules, tests, nobodys)


class RuleOfMany:
    """Tests of one class and file have one owner, unless somebody says otherwise of one: each is asked for once."""

    def __init__(self, book: OwnerBook) -> None:
        self._book = book
        self._known: dict[tuple[str, str, str], OwnerAnswer] = {}

    def of(self, test: TestName) -> OwnerAnswer:
        if test.number in self._book.by_hand:
            return self._book.ruled(test)
        place = (test.suite, test.classname, test.file)
        if place not in self._known:
            self._known[place] = self._book.ruled(test)
        return self._known[place]
