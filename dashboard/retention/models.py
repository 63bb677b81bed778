"""How long a project keeps what; a project without a row keeps it as the defaults say."""

from dataclasses import fields

from django.db import models

from dashboard.retention.ages import Ages
from ingest.models import Project

DEFAULTS = Ages()


class Retention(models.Model):
    """A project's ages, in days; null for ever."""

    project = models.OneToOneField(Project, models.CASCADE, related_name="retention")
    uploads = models.PositiveIntegerField(null=True, default=DEFAULTS.uploads)
    texts = models.PositiveIntegerField(null=True, default=DEFAULTS.texts)
    reports = models.PositiveIntegerField(null=True, default=DEFAULTS.reports)
    traces = models.PositiveIntegerField(null=True, default=DEFAULTS.traces, db_default=DEFAULTS.traces)
    attachments = models.PositiveIntegerField(null=True, default=DEFAULTS.attachments, db_default=DEFAULTS.attachments)
    analyses = models.PositiveIntegerField(null=True, default=DEFAULTS.analyses)
    decisions = models.PositiveIntegerField(null=True, default=DEFAULTS.decisions)
    deliveries = models.PositiveIntegerField(null=True, default=DEFAULTS.deliveries)
    retained_at = models.DateTimeField(null=True)
    """When what was too old was deleted the last time, to the end."""

    @property
    def ages(self) -> Ages:
        return Ages(**{field.name: getattr(self, field.name) for field in fields(Ages)})
