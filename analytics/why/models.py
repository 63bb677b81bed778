"""Differences between failing and passing executions of tests, as they were found in their traces."""

from django.db import models
from django.utils import timezone

from ingest.models import Project


class DifferenceFinding(models.Model):
    """What differs when a test fails. It stays when the traces are gone."""

    project = models.ForeignKey(Project, models.CASCADE, db_index=False)
    number = models.IntegerField()
    """The test's."""
    verdict = models.CharField(max_length=30)
    category = models.CharField(max_length=40, blank=True)
    """The first difference's, if it explains the failures."""
    sentence = models.TextField()
    data = models.JSONField(default=dict)
    """`analytics.why.findings`."""
    newest_failing = models.BigIntegerField(default=0)
    """Id of the newest failing trace that was looked at."""
    failing = models.IntegerField(default=0)
    passing = models.IntegerField(default=0)
    compared_at = models.DateTimeField(default=timezone.now)

    class Meta:
        constraints = (models.UniqueConstraint(fields=("project", "number"), name="difference_finding_once"),)
