"""Which tests have which labels, and which fit a query."""

from collections.abc import Collection, Sequence

import numpy as np
from django.db.models import Count, Max
from django.db.models.functions import Coalesce

from analytics.columns.query import Choice, chosen_rows
from analytics.kernel.executions import Ints
from analytics.selectors import current_tests
from dashboard.quarantine.labels.models import TestLabel
from dashboard.quarantine.labels.query import TestQuery, read_query
from dashboard.quarantine.owners.index import asked_numbers
from ingest.models import Project

_NUMBER = Coalesce("test__alias_of__number", "test__number")
"""A renamed test's labels are those of the test that it is now."""


def labels_of(project: Project, numbers: Collection[int]) -> dict[int, list[str]]:
    """By number of a test that has any: its labels, by the alphabet."""
    rows = TestLabel.objects.filter(test__project=project).annotate(number=_NUMBER).filter(number__in=list(numbers))
    found: dict[int, list[str]] = {}
    for number, label in rows.order_by("label").values_list("number", "label").distinct():
        found.setdefault(number, []).append(label)
    return found


def label_counts(project: Project) -> list[tuple[str, int]]:
    """Each label and how many tests have it, by the alphabet."""
    rows = TestLabel.objects.filter(test__project=project).values("label").annotate(tests=Count(_NUMBER, distinct=True))
    return list(rows.order_by("label").values_list("label", "tests"))


def labelled(project: Project, labels: Sequence[str]) -> Ints | None:
    """Numbers of the tests that have all of these labels; None where none is asked for."""
    found: set[int] | None = None
    for label in labels:
        rows = TestLabel.objects.filter(test__project=project, label=label).annotate(number=_NUMBER)
        with_it = set(rows.values_list("number", flat=True))
        found = with_it if found is None else found & with_it
    return None if found is None else np.array(sorted(found), dtype=np.int64)


def labels_version(project_id: int) -> object:
    """Another one wherever labels are others."""
    return str(TestLabel.objects.filter(test__project_id=project_id).aggregate(newest=Max("pk"), count=Count("pk")))


def choice_of(project: Project, query: TestQuery) -> Choice:
    numbers = asked_numbers(project, query.text, query.owner)
    with_labels = labelled(project, query.labels)
    if with_labels is not None:
        numbers = with_labels if numbers is None else np.intersect1d(numbers, with_labels)
    return Choice(numbers=numbers, **query.words)


def fitting_numbers(project: Project, written: str) -> frozenset[int] | None:
    """Numbers of the tests of the window that fit a query; None for an empty one, which all fit."""
    query = read_query(written)
    if not query:
        return None
    _, columns = current_tests(project.pk)
    rows = chosen_rows(columns, choice_of(project, query))
    return frozenset(columns["number"][rows].tolist()) if len(rows) else frozenset()
