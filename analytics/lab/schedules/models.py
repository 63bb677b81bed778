"""What is kept of schedules: splits of a suite, selections from it, and the collections that they are of."""

from django.db import models
from django.db.models import Q
from django.utils import timezone

from ingest.models import Project

SELECT, SHARD = "select", "shard"
KEPT = (SELECT, SHARD)
"""The kinds of schedules that are kept."""


class Collection(models.Model):
    """The tests that a runner collected, in their original order; kept once however many splits are of it."""

    project = models.ForeignKey(Project, models.CASCADE, db_index=False)
    digest = models.BinaryField(max_length=16)
    size = models.IntegerField()
    names = models.BinaryField()
    """`analytics.lab.schedules.collected_tests`: class, name and file of each."""

    class Meta:
        constraints = (models.UniqueConstraint(fields=("project", "digest"), name="collection_once"),)


class Split(models.Model):
    """Which tests of a build run in which shard. The first shard that asks decides; all others get the same.

    A selection is kept as a split of one part, which lacks the tests that do not run; the newest from
    the same collection counts."""

    project = models.ForeignKey(Project, models.CASCADE, db_index=False)
    build = models.CharField(max_length=255)
    job = models.CharField(max_length=255, blank=True)
    """Without what tells one shard's job from another's."""
    kind = models.CharField(max_length=8, default=SHARD, db_default=SHARD)
    total = models.IntegerField()
    by = models.CharField(max_length=16)
    collection = models.ForeignKey(Collection, models.CASCADE)
    parts = models.BinaryField()
    """The places of each shard's tests in the collection, in the order in which they run."""
    details = models.JSONField(default=dict)
    """What was moved, added, avoided and left out, and the seconds that are expected."""
    extras = models.JSONField(default=dict)
    """By a digest of its names: the shard that runs a test which the collection lacks, or which its own shard lacks."""
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        constraints = (
            models.UniqueConstraint(
                fields=("project", "build", "job", "total"), condition=Q(kind=SHARD), name="split_once_a_build"
            ),
            models.UniqueConstraint(
                fields=("project", "build", "job", "collection"), condition=Q(kind=SELECT), name="selection_once"
            ),
        )
        indexes = (models.Index(fields=("project", "created_at"), name="split_age"),)
