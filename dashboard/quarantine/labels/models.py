"""What people write on tests, and the lists of tests that they come back to."""

from django.db import models
from django.utils import timezone

from ingest.models import Project, Test

LABEL_LENGTH, NOTE_LENGTH, VIEW_LENGTH, QUERY_LENGTH = 64, 4_000, 80, 500


class TestLabel(models.Model):
    """A word on a test, to find it by."""

    __test__ = False  # the name means something to pytest

    test = models.ForeignKey(Test, models.CASCADE, related_name="labels", db_index=False)
    label = models.CharField(max_length=LABEL_LENGTH)

    class Meta:
        constraints = (models.UniqueConstraint(fields=("test", "label"), name="test_label_once"),)


class TestNote(models.Model):
    """What somebody knows of a test."""

    __test__ = False  # the name means something to pytest

    test = models.ForeignKey(Test, models.CASCADE, related_name="notes")
    text = models.TextField(max_length=NOTE_LENGTH)
    by = models.CharField(max_length=255)
    at = models.DateTimeField(default=timezone.now)


class SavedView(models.Model):
    """A query over tests with a name, for everybody who may see the project."""

    project = models.ForeignKey(Project, models.CASCADE, related_name="saved_views", db_index=False)
    name = models.CharField(max_length=VIEW_LENGTH)
    query = models.CharField(max_length=QUERY_LENGTH)
    """As `dashboard.quarantine.labels.query` reads it."""
    created_by = models.CharField(max_length=255)
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        constraints = (models.UniqueConstraint(fields=("project", "name"), name="saved_view_once"),)
        ordering = ("name",)
