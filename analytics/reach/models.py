"""Failing tests of runs whose change is known, with whether they touch it: what ratios and evidence rest on."""

from django.db import models
from django.utils import timezone


class TouchedFailure(models.Model):
    """A failing test of a run, and whether it touches the run's change; only where that is known."""

    class Answer(models.TextChoices):
        YES = "yes"
        NO = "no"

    project = models.ForeignKey("ingest.Project", models.CASCADE, db_index=False)
    run = models.ForeignKey("ingest.Run", models.CASCADE, db_index=False)
    number = models.IntegerField()
    touches = models.CharField(max_length=3, choices=Answer)
    passed_at_base = models.BooleanField(default=False)
    """It passed at the revision that the change is against."""
    at = models.DateTimeField(default=timezone.now)

    class Meta:
        constraints = (models.UniqueConstraint(fields=("run", "number"), name="touched_failure_once"),)
        indexes = (models.Index(fields=("project", "number", "-at"), name="touched_failure_test"),)
