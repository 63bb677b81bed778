"""How severe each kind of notification is, and what people call it. Pure."""

from django.db import models

from dashboard.quarantine.models import Notification

Kind = Notification.Kind


class Severity(models.TextChoices):
    """The least severe first."""

    INFO = "info"
    WARNING = "warning"
    CRITICAL = "critical"


SEVERITIES = {
    Kind.MAIN_BROKEN: Severity.CRITICAL,
    Kind.MAIN_MENDED: Severity.CRITICAL,  # as severe as what it ends
    Kind.NO_UPLOADS: Severity.CRITICAL,
    Kind.NEW_FLAKY: Severity.WARNING,
    Kind.INCIDENT: Severity.WARNING,
    Kind.FLAKY_RATE: Severity.WARNING,
    Kind.UPLOAD_ERROR: Severity.WARNING,
    Kind.EXPIRES_SOON: Severity.WARNING,
    Kind.EXPIRED: Severity.WARNING,
    Kind.REOPENED: Severity.WARNING,
    Kind.CAP_REACHED: Severity.WARNING,
}
"""What is not named is for information."""
WORDS = {
    Kind.NEW_FLAKY: "new flaky test",
    Kind.MAIN_BROKEN: "default branch broken",
    Kind.MAIN_MENDED: "default branch mended",
    Kind.INCIDENT: "incident",
    Kind.FLAKY_RATE: "flaky rate above the threshold",
    Kind.UPLOAD_ERROR: "upload error",
    Kind.NO_UPLOADS: "no uploads",
    Kind.EXPIRES_SOON: "quarantine expires soon",
    Kind.EXPIRED: "quarantine expired",
    Kind.PROPOSED: "quarantine proposed",
    Kind.QUARANTINED: "quarantined",
    Kind.RELEASED: "released or fixed",
    Kind.REOPENED: "reopened",
    Kind.CAP_REACHED: "cap reached",
    Kind.ORDER_DEPENDENT: "new order-dependent test",
}
"""Kind of notification -> what people call it."""

ASKED_BY_CHANNEL = (Kind.FLAKY_RATE, Kind.NO_UPLOADS)
"""Kinds that a channel asks for by its threshold, whatever kinds and severity it chose besides."""


def severity_of(kind: str) -> Severity:
    return SEVERITIES.get(Kind(kind), Severity.INFO)


def is_at_least(severity: str, least: str) -> bool:
    order = Severity.values
    return order.index(severity) >= order.index(least)
