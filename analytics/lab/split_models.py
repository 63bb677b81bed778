"""Splits of a suite into shards, each made once a build; and the collections of tests that they are of."""

from django.db import models
from django.utils import timezone

from ingest.models import Project


class Collection(models.Model):
    """The tests that a runner collected, in their original order; kept once however many splits are of it."""

    project = models.ForeignKey(Project, models.CASCADE, db_index=False)
    digest = models.BinaryField(max_length=16)
    size = models.IntegerField()
    names = models.BinaryField()
    """`analytics.lab.collected_tests`: class, name and file of each."""

    class Meta:
        constraints = (models.UniqueConstraint(fields=("project", "digest"), name="collection_once"),)


class Split(models.Model):
    """Which tests of a build run in which shard. The first shard that asks decides; all others get the same."""

    project = models.ForeignKey(Project, models.CASCADE, db_index=False)
    build = models.CharField(max_length=255)
    job = models.CharField(max_length=255, blank=True)
    """Without what tells one shard's job from another's."""
    total = models.IntegerField()
    by = models.CharField(max_length=16)
    collection = models.ForeignKey(Collection, models.CASCADE)
    parts = models.BinaryField()
    """The places of each shard's tests in the collection, in the order in which they run."""
    details = models.JSONField(default=dict)
    """What was moved, added, avoided and left out, and the seconds that are expected."""
    extras = models.JSONField(default=dict)
    """Tests that the collection lacks and a shard has, by a digest of their names -> the shard that runs them."""
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        constraints = (models.UniqueConstraint(fields=("project", "build", "job", "total"), name="split_once"),)
        indexes = (models.Index(fields=("project", "created_at"), name="split_age"),)
