"""Kept series of values: those of a test, those of a project, and how often the project runs."""

from datetime import timedelta

from django.db.models import Q, QuerySet
from django.utils import timezone

from ingest.models import Project, Run, Test, ValueSeries

_DAYS = 28


def series_of_test(test: Test) -> list[ValueSeries]:
    """All names of the test together, by place; what `bounds` measured before what CI sent."""
    found = ValueSeries.objects.filter(Q(test=test) | Q(test__alias_of=test))
    return list(found.order_by("file", "line", "ordinal", "origin", "environment", "pk"))


def series_of_project(project: Project) -> "QuerySet[ValueSeries]":
    """What was concluded, without the values."""
    return ValueSeries.objects.filter(project=project).defer("values", "bounds", "reports").select_related("test")


def runs_a_day(project: Project) -> float | None:
    """CI's runs of the last four weeks; None without any."""
    since = timezone.now() - timedelta(days=_DAYS)
    runs = Run.objects.filter(project=project, placed_at__gte=since).count()
    return runs / _DAYS if runs else None
