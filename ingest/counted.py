"""What counts. Everything that learns from runs and reports asks for them here."""

from django.db import models


class Counted(models.Manager):
    """Runs or reports without those of forks that nobody admitted."""

    def get_queryset(self) -> models.QuerySet:
        return super().get_queryset().filter(untrusted=False)
