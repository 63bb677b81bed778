"""Values of approximate assertions, as CI's reports and `flakeboard bounds` sent them."""

from django.db import models
from django.utils import timezone


class ValueSeries(models.Model):
    """The values of one assertion of one test in one environment, the newest last."""

    class Origin(models.TextChoices):
        CI = "ci"
        BOUNDS = "bounds"

    project = models.ForeignKey("ingest.Project", models.CASCADE, db_index=False)
    test = models.ForeignKey("ingest.Test", models.CASCADE, db_index=False)
    digest = models.BinaryField(max_length=16)
    """Of origin, environment, file, line and ordinal: those can be too long for an index."""
    origin = models.CharField(max_length=6, choices=Origin)
    environment = models.TextField(blank=True)
    """As os=Linux,python=3.12."""
    file = models.TextField()
    line = models.IntegerField()
    ordinal = models.IntegerField()
    kind = models.CharField(max_length=10)
    """upper, lower, share or difference."""
    op = models.CharField(max_length=2)
    commit = models.CharField(max_length=64, blank=True)
    """The newest."""
    seeds = models.CharField(max_length=8, blank=True)
    """What an experiment did with random seeds: varied or kept."""
    runs = models.IntegerField(default=0)
    failed = models.IntegerField(default=0)
    """Runs of an experiment, and those of them in which the test failed; 0 where CI ran it."""
    values = models.BinaryField()
    bounds = models.BinaryField()
    """Float64 each, little-endian: what was compared, and with what."""
    reports = models.BinaryField()
    """Int64 each: the report that a value came from; empty for an experiment."""
    answer = models.JSONField(default=dict)
    """What was concluded from the values; empty where nothing was yet."""
    is_stale = models.BooleanField(default=True)
    """Values have arrived since it was concluded."""
    updated_at = models.DateTimeField(default=timezone.now)

    class Meta:
        constraints = (models.UniqueConstraint(fields=("test", "digest"), name="value_series_once"),)
        indexes = (models.Index(fields=("project", "-updated_at"), name="value_series_newest"),)


class ForkValues(models.Model):
    """The values of a fork's report, apart from all series until somebody admits its run."""

    report = models.OneToOneField("ingest.Report", models.CASCADE, primary_key=True)
    texts = models.JSONField()
    """The number of a test -> its properties, as the report has them."""
