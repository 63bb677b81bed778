"""What trends are drawn from. An analysis replaces what lies in its window; what is older stays as it was concluded."""

from django.db import models

from ingest.models import Project

DEFAULT_BRANCH, PULL_REQUESTS = "~default", "~pulls"
"""In place of a branch's name; git allows no tilde in one."""


class TrendDay(models.Model):
    """The runs of one day, UTC, in one environment and of one branch, by how they ended."""

    project = models.ForeignKey(Project, models.CASCADE, db_index=False)
    day = models.DateField()
    environment = models.TextField()
    """The values of its runs' environment, as in "linux, 3.12"."""
    branch = models.TextField()
    """DEFAULT_BRANCH, PULL_REQUESTS, or a name."""
    runs = models.IntegerField()
    failed = models.IntegerField()
    """In any way."""
    flaky = models.IntegerField()
    """By flaky tests alone."""
    seconds = models.FloatField()
    rerun_seconds = models.FloatField()
    """Of its tests; and of those, in later attempts and in runs that repeat one."""
    failures = models.JSONField(default=list)
    """Of each run with a flaky failure: see `analytics.trends.failures.FlakyRun`."""

    class Meta:
        constraints = (
            models.UniqueConstraint(fields=("project", "day", "environment", "branch"), name="trend_day_once"),
        )


class FlakySpell(models.Model):
    """A time during which a test was flaky: from its first flaky failure until it had recovered."""

    project = models.ForeignKey(Project, models.CASCADE, db_index=False)
    number = models.IntegerField()
    """Of the test."""
    since = models.DateTimeField()
    last = models.DateTimeField()
    """Its last flaky failure."""
    until = models.DateTimeField(null=True)
    """When it had been clean for long enough to have recovered; null while it is flaky."""
    again = models.BooleanField(default=False, db_default=False)
    """The test had recovered from an earlier spell."""
    seen = models.BooleanField(default=True, db_default=True)
    """Its beginning is: else the test may have been flaky before anything is known of it."""

    class Meta:
        constraints = (models.UniqueConstraint(fields=("project", "number", "since"), name="flaky_spell_once"),)
