"""Services that label tests, note what people know of them, and keep views."""

from collections.abc import Iterable

from django.db import IntegrityError, transaction

from dashboard.people.audit import audit
from dashboard.quarantine.labels.models import (
    LABEL_LENGTH,
    NOTE_LENGTH,
    QUERY_LENGTH,
    VIEW_LENGTH,
    SavedView,
    TestLabel,
    TestNote,
)
from dashboard.quarantine.labels.query import read_query
from ingest.models import Project, Test

MOST_LABELS, MOST_NOTES, MOST_VIEWS = 20, 100, 100
"""Of a test, of a test, of a project."""


class LabelRefused(Exception):
    """What was written cannot be kept: the text says why."""


@transaction.atomic
def labels_set(*, test: Test, labels: Iterable[str]) -> list[str]:
    """Give a test these labels and no others; returns them."""
    wanted = sorted({" ".join(label.split()) for label in labels} - {""})
    if len(wanted) > MOST_LABELS:
        raise LabelRefused(f"A test has at most {MOST_LABELS} labels.")
    if any(len(label) > LABEL_LENGTH or not label.isprintable() or set(label) & set('",') for label in wanted):
        raise LabelRefused(f"A label has at most {LABEL_LENGTH} characters, and no quotes or commas.")
    Test.objects.select_for_update().get(pk=test.pk)
    theirs = TestLabel.objects.filter(test__in=[test, *test.aliases.all()])
    before = sorted(set(theirs.values_list("label", flat=True)))
    if before == wanted:
        return wanted
    theirs.exclude(test=test, label__in=wanted).delete()
    TestLabel.objects.bulk_create((TestLabel(test=test, label=label) for label in wanted), ignore_conflicts=True)
    audit("labels.set", project=test.project, target=test.name, before={"labels": before}, after={"labels": wanted})
    return wanted


@transaction.atomic
def note_add(*, test: Test, text: str, by: str) -> TestNote:
    text = text.replace("\0", "").replace("\r\n", "\n").strip()
    if not text or len(text) > NOTE_LENGTH:
        raise LabelRefused(f"A note has between 1 and {NOTE_LENGTH:,} characters.")
    Test.objects.select_for_update().get(pk=test.pk)
    if TestNote.objects.filter(test=test).count() >= MOST_NOTES:
        raise LabelRefused(f"A test has at most {MOST_NOTES} notes: delete one first.")
    note = TestNote.objects.create(test=test, text=text, by=by)
    audit("note.added", project=test.project, target=test.name, after={"note": text[:200]})
    return note


@transaction.atomic
def note_delete(*, note: TestNote) -> None:
    audit("note.deleted", project=note.test.project, target=note.test.name, before={"note": note.text[:200]})
    note.delete()


@transaction.atomic
def view_save(*, project: Project, name: str, query: str, by: str) -> SavedView:
    """Keep a query under a name that no other view has; the query is written as it was understood."""
    name, understood = " ".join(name.split()), str(read_query(query))
    if not name or len(name) > VIEW_LENGTH or not name.isprintable():
        raise LabelRefused(f"A view has a name of at most {VIEW_LENGTH} characters.")
    if not understood or len(understood) > QUERY_LENGTH:
        raise LabelRefused(f"A view narrows the list down, in at most {QUERY_LENGTH} characters.")
    if SavedView.objects.filter(project=project).count() >= MOST_VIEWS:
        raise LabelRefused(f"A project has at most {MOST_VIEWS} views: delete one first.")
    try:
        with transaction.atomic():
            view = SavedView.objects.create(project=project, name=name, query=understood, created_by=by)
    except IntegrityError as error:
        raise LabelRefused(f"There is a view called {name} already.") from error
    audit("view.saved", project=project, target=name, after={"query": understood})
    return view


@transaction.atomic
def view_delete(*, view: SavedView) -> None:
    audit("view.deleted", project=view.project, target=view.name, before={"query": view.query})
    view.delete()
