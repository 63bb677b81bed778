"""Celery's application as beat needs it: it asks for tasks by name, and loads neither them nor Django's models."""

from dashboard.ops.celery_setup import make_application

app = make_application(fixups=[])
