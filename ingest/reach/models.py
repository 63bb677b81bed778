"""What tests used and what runs changed. Names and sets are kept once a project, however many runs have them."""

from django.db import models
from django.utils import timezone

SOURCES = (
    *("time", "async wait", "concurrency", "randomness", "network", "IO", "platform", "unordered collections"),
    *("resource leak", "order dependency", "timeout"),
)
"""Categories of sources by bit; what is stored has these numbers, so only append."""


class ReachName(models.Model):
    """A function of a project, by its file and qualified name; without a name, a file."""

    project = models.ForeignKey("ingest.Project", models.CASCADE, db_index=False)
    digest = models.BinaryField(max_length=16)
    file = models.TextField()
    name = models.TextField(blank=True)
    seen_at = models.DateTimeField(default=timezone.now)
    """When a run last had it, within a day."""

    class Meta:
        constraints = (models.UniqueConstraint(fields=("project", "digest"), name="reach_name_once"),)


class ReachSet(models.Model):
    """A set of names that some test used, or some test file imports."""

    project = models.ForeignKey("ingest.Project", models.CASCADE, db_index=False)
    digest = models.BinaryField(max_length=16)
    size = models.IntegerField()
    members = models.BinaryField()
    """`ingest.reach.sets`: ids of names."""
    seen_at = models.DateTimeField(default=timezone.now)

    class Meta:
        constraints = (models.UniqueConstraint(fields=("project", "digest"), name="reach_set_once"),)


class Reach(models.Model):
    """What the tests of a run used, as one upload told it: columns of numbers."""

    project = models.ForeignKey("ingest.Project", models.CASCADE, db_index=False)
    run = models.ForeignKey("ingest.Run", models.CASCADE)
    upload = models.ForeignKey("ingest.Upload", models.SET_NULL, null=True)
    commit = models.CharField(max_length=64, blank=True)
    tests = models.IntegerField()
    outside = models.ForeignKey(ReachSet, models.SET_NULL, null=True, db_index=False, related_name="+")
    """Functions that ran outside of any test."""
    data = models.BinaryField()
    """`ingest.reach.sets.Columns`."""
    received_at = models.DateTimeField(default=timezone.now)

    class Meta:
        indexes = (
            models.Index(fields=("project", "-received_at", "-id"), name="reach_newest"),
            models.Index(fields=("project", "commit"), name="reach_commit"),
        )


class RunChange(models.Model):
    """What the code of a run differs in from its base."""

    project = models.ForeignKey("ingest.Project", models.CASCADE, db_index=False)
    run = models.OneToOneField("ingest.Run", models.CASCADE, related_name="change")
    base = models.CharField(max_length=64, blank=True)
    head = models.CharField(max_length=64, blank=True)
    unknown = models.CharField(max_length=512, blank=True)
    """Why nobody knows what changed; empty where it is known."""
    files = models.IntegerField(default=0)
    data = models.BinaryField()
    """`ingest.reach.change_file`: its files."""
    received_at = models.DateTimeField(default=timezone.now)

    class Meta:
        indexes = (models.Index(fields=("project", "received_at"), name="run_change_age"),)
