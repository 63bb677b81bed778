"""Owners as they are stored: read as one book, written as a whole."""

from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Any

from django.db import transaction
from django.utils import timezone

from dashboard.people.audit import audit
from dashboard.quarantine.models import CodeOwnersFile, OwnerPattern, TestOwner
from dashboard.quarantine.owners.rules import CodeOwnersBook, OwnerBook, Pattern
from ingest.models import Project, Test


def owner_book(project: Project) -> OwnerBook:
    return owner_books([project])[project.pk]


def owner_books(projects: Iterable[Project]) -> dict[int, OwnerBook]:
    """By project, in three queries however many there are."""
    ids = [project.pk for project in projects]
    by_hand: dict[int, dict[int, str]] = {pk: {} for pk in ids}
    patterns: dict[int, list[Pattern]] = {pk: [] for pk in ids}
    files = CodeOwnersFile.objects.filter(project__in=ids).values_list("project_id", "text", "syntax")
    code_owners = {pk: _read(text, syntax) for pk, text, syntax in files}
    for pk, *pattern in OwnerPattern.objects.filter(project__in=ids).values_list(
        "project_id", "field", "pattern", "owner"
    ):
        patterns[pk].append(Pattern(*pattern))
    names = TestOwner.objects.filter(test__project__in=ids).values_list("test__project_id", "test__number", "owner")
    for pk, number, owner in names:
        by_hand[pk][number] = owner
    return {pk: OwnerBook(by_hand[pk], patterns[pk], code_owners.get(pk)) for pk in ids}


@lru_cache(maxsize=32)
def _read(text: str, syntax: str) -> CodeOwnersBook:
    """A long file is read once, and not for every page."""
    return CodeOwnersBook(text, syntax)


def owner_of(book: OwnerBook, tests: Iterable[Test]) -> str:
    """The owner of the first test that has one."""
    found = (book.owner(test.test_name) for test in tests)
    return next((owner for owner in found if owner), "")


def code_owners_set(*, project: Project, text: str, syntax: str) -> None:
    """Keep a CODEOWNERS file that can be read; an empty one is none."""
    if not text.strip():
        CodeOwnersFile.objects.filter(project=project).delete()
        return
    CodeOwnersBook(text, syntax)
    CodeOwnersFile.objects.update_or_create(
        project=project, defaults={"text": text, "syntax": syntax, "updated_at": timezone.now()}
    )


@transaction.atomic
def owner_patterns_set(*, project: Project, patterns: Sequence[Pattern]) -> None:
    OwnerPattern.objects.filter(project=project).delete()
    OwnerPattern.objects.bulk_create(
        OwnerPattern(
            project=project, position=position, field=pattern.field, pattern=pattern.pattern, owner=pattern.owner
        )
        for position, pattern in enumerate(patterns)
    )


@transaction.atomic
def owners_set(*, project: Project, text: str, syntax: str, patterns: Sequence[Pattern]) -> None:
    """Replace the file and the patterns in one transaction, and log what changed."""
    before = _audit_values(project)
    code_owners_set(project=project, text=text, syntax=syntax)
    owner_patterns_set(project=project, patterns=patterns)
    after = _audit_values(project)
    if before != after:
        audit("owners.set", project=project, before=before, after=after)


def _audit_values(project: Project) -> dict[str, Any]:
    """A project's ownership rules for the audit log."""
    stored = CodeOwnersFile.objects.filter(project=project).first()
    patterns = OwnerPattern.objects.filter(project=project).values_list("field", "pattern", "owner")
    return {
        "code_owners": stored.text if stored else "",
        "syntax": stored.syntax if stored else "",
        "patterns": [" ".join(pattern) for pattern in patterns],
    }


@transaction.atomic
def test_owner_set(*, test: Test, owner: str) -> None:
    """Name a test's owner; an empty one takes the word back."""
    before = TestOwner.objects.filter(test=test).values_list("owner", flat=True).first() or ""
    if owner:
        TestOwner.objects.update_or_create(test=test, defaults={"owner": owner})
    else:
        TestOwner.objects.filter(test=test).delete()
    if before != owner:
        audit("owner.set", project=test.project, target=test.name, before={"owner": before}, after={"owner": owner})
