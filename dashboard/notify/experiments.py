"""Experiments concluded, and people told of tests that are new in them."""

import logging

from analytics.lab.conclusions import Conclusion, experiment_conclude, experiments_unconcluded
from dashboard.quarantine.models import Notification
from dashboard.quarantine.services import notify
from ingest.models import Experiment

logger = logging.getLogger(__name__)
_NAMED = 50
"""Tests that one message names at most."""


def conclude(experiment: Experiment) -> Conclusion:
    """Make findings and dependencies of what has arrived, and tell of each new order-dependent test once."""
    conclusion = experiment_conclude(experiment=experiment)
    if conclusion.first_shown:
        numbers = sorted(conclusion.first_shown)
        notify(
            project_id=experiment.project_id,
            kind=Notification.Kind.ORDER_DEPENDENT,
            key=f"order-dependent:{experiment.pk}:{numbers[0]}:{len(numbers)}",
            payload={"experiment": experiment.key, "tests": numbers[:_NAMED]},
        )
    return conclusion


def conclude_missed() -> None:
    """Conclude experiments of which something arrived and whose worker died before it could."""
    for experiment in experiments_unconcluded():
        try:
            conclude(experiment)
        except Exception:
            logger.exception("experiment %s: it could not be concluded", experiment.pk)
