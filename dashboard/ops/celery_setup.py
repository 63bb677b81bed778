"""What every Celery application of ours has: Django's settings, our broker and our log lines."""

import logging.config
import os
import warnings
from typing import Any

from celery import Celery, signals
from celery.platforms import SecurityWarning

from dashboard.ops import broker


def make_application(**options: Any) -> Celery:
    """Its settings are Django's, prefixed with CELERY_."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "dashboard.settings")
    # Each worker would check Django's models and addresses, and load every page and all of the API for it.
    os.environ.setdefault("CELERY_SKIP_CHECKS", "1")
    # Celery warns of root because pickled messages could run code; ours are JSON and nothing else.
    warnings.simplefilter("ignore", SecurityWarning)
    broker.install()
    app = Celery("flakeboard", **options)
    app.config_from_object("django.conf:settings", namespace="CELERY")
    return app


@signals.setup_logging.connect
def _log_as_django_does(**_: Any) -> None:
    from django.conf import settings

    logging.config.dictConfig(settings.LOGGING)
