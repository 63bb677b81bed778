"""Sketches of tests, predictions of them, and what pull requests were answered."""

from django.db import models
from django.db.models import Q
from django.utils import timezone


class TestSketch(models.Model):
    """What is left of a test function's source for comparing it: made by the client with a key that never leaves CI."""

    __test__ = False  # the name means something to pytest

    project = models.ForeignKey("ingest.Project", models.CASCADE, db_index=False)
    unit = models.BinaryField(max_length=16)
    """`analytics.likeness.units`: of its class, or file, and name."""
    form = models.SmallIntegerField()
    key_id = models.CharField(max_length=8)
    """Sketches made with another key cannot be compared."""
    digest = models.BinaryField(max_length=16)
    numbers = models.BinaryField(max_length=256)
    words = models.IntegerField()
    written = models.DateTimeField(null=True)
    """The day of the line that names the test, by git blame; null where it was not asked."""
    commit = models.CharField(max_length=64, blank=True)
    seen_at = models.DateTimeField(default=timezone.now)
    """When it was last sent from the default branch."""

    class Meta:
        constraints = (models.UniqueConstraint(fields=("project", "unit"), name="test_sketch_once"),)
        indexes = (
            models.Index(fields=("project", "digest"), name="test_sketch_digest"),
            models.Index(fields=("project", "-seen_at", "-id"), name="test_sketch_newest"),
        )


class Prediction(models.Model):
    """What was thought of a test function when its own results did not tell yet; settled once they do."""

    class Word(models.TextChoices):
        LIKELY = "likely"
        MORE_RUNS = "more runs"
        NOTHING = ""

    project = models.ForeignKey("ingest.Project", models.CASCADE, db_index=False)
    unit = models.BinaryField(max_length=16)
    number = models.IntegerField()
    """The lowest number of its tests."""
    score = models.FloatField()
    level = models.FloatField(null=True)
    """Least score at which "likely flaky" was said then; null while the predictor was silent."""
    word = models.CharField(max_length=10, choices=Word, blank=True)
    """What was said of it first; of a test about which nothing was said the score is kept, to judge levels by."""
    made_at = models.DateTimeField(default=timezone.now)
    settled_at = models.DateTimeField(null=True)
    right = models.BooleanField(null=True)
    """Whether the test turned out to be flaky; null while that is open."""

    class Meta:
        constraints = (models.UniqueConstraint(fields=("project", "unit"), name="prediction_once"),)
        indexes = (
            models.Index(fields=("project", "-made_at", "-id"), name="prediction_newest", condition=~Q(word="")),
        )


class PullRequestAnswer(models.Model):
    """What a pull request, or a commit, was answered about its tests: for the page of its runs, and nothing else."""

    project = models.ForeignKey("ingest.Project", models.CASCADE, db_index=False)
    commit = models.CharField(max_length=64)
    pull_request = models.CharField(max_length=64, blank=True)
    made_at = models.DateTimeField(default=timezone.now)
    results = models.JSONField(default=list)

    class Meta:
        constraints = (models.UniqueConstraint(fields=("project", "commit"), name="pull_request_answer_once"),)
