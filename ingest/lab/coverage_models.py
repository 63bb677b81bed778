"""Coverage by test, as CI sent it."""

from django.db import models
from django.utils import timezone


class Coverage(models.Model):
    """Which test ran which lines at one commit; of each branch the newest is kept."""

    project = models.ForeignKey("ingest.Project", models.CASCADE, db_index=False)
    branch = models.CharField(max_length=255, blank=True)
    commit = models.CharField(max_length=64)
    tree = models.CharField(max_length=64, blank=True)
    tests = models.IntegerField()
    files = models.IntegerField()
    data = models.BinaryField()
    """`ingest.lab.coverage`: gzip of lines of JSON."""
    received_at = models.DateTimeField(default=timezone.now)

    class Meta:
        constraints = (models.UniqueConstraint(fields=("project", "branch"), name="coverage_of_branch"),)
