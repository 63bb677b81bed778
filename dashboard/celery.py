"""The Celery application. Its settings are Django's, prefixed with CELERY_."""

import os
import warnings

from celery import Celery
from celery.platforms import SecurityWarning

from dashboard import broker

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "dashboard.settings")
# Celery warns of root because pickled messages could run code; ours are JSON and nothing else.
warnings.simplefilter("ignore", SecurityWarning)
broker.install()
app = Celery("flakeboard")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks(["dashboard"])
