"""Traces of tests: what single executions in CI did, as far as it was recorded."""

from django.db import models
from django.utils import timezone


class Trace(models.Model):
    """What one execution of one test did. The same content twice is one row."""

    class Outcome(models.TextChoices):
        PASSED = "passed"
        FAILED = "failed"
        SKIPPED = "skipped"

    project = models.ForeignKey("ingest.Project", models.CASCADE, db_index=False)
    test = models.ForeignKey("ingest.Test", models.CASCADE, db_index=False)
    run = models.ForeignKey("ingest.Run", models.CASCADE, db_index=False)
    upload = models.ForeignKey("ingest.Upload", models.SET_NULL, null=True)
    """The upload that brought it."""
    attempt = models.IntegerField(default=1)
    outcome = models.CharField(max_length=7, choices=Outcome)
    """As the report has it, which counts where trace and report disagree."""
    raised = models.CharField(max_length=512, blank=True)
    level = models.CharField(max_length=9)
    python = models.CharField(max_length=512, blank=True)
    worker = models.CharField(max_length=512, blank=True)
    events = models.IntegerField()
    cut = models.IntegerField(default=0)
    """Events that were left out, from the middle."""
    digest = models.BinaryField(max_length=16)
    content = models.BinaryField()
    """`ingest.lab.trace_files`: a deflated trace file with this execution alone."""
    received_at = models.DateTimeField(default=timezone.now)

    class Meta:
        constraints = (models.UniqueConstraint(fields=("run", "test", "digest"), name="trace_once"),)
        indexes = (
            models.Index(fields=("test", "outcome", "-id"), name="trace_newest"),
            models.Index(fields=("project", "received_at"), name="trace_age"),
        )
