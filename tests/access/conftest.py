"""The analysed project, furnished once for the walk."""

import pytest
from celery.app.task import Task
from rest_framework.response import Response

from tests.access.world import World, furnish
from tests.dashboard.analysed import Analysed
from tests.dashboard.conftest import committed

__all__ = ["committed"]


@pytest.fixture
def world(committed: Analysed, db: None, monkeypatch: pytest.MonkeyPatch, settings) -> World:  # type: ignore[no-untyped-def]
    monkeypatch.setattr(Task, "apply_async", lambda *args, **kwargs: None)
    schema = "drf_spectacular.views.SpectacularAPIView._get_schema_response"
    monkeypatch.setattr(schema, lambda view, request: Response({}))  # its making takes long, and is tested elsewhere
    monkeypatch.setattr("dashboard.api.upload.waits.time.sleep", lambda seconds: None)
    plain = {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"}
    settings.STORAGES = {**settings.STORAGES, "staticfiles": plain}
    settings.UPLOADS_PER_MINUTE = settings.GATES_PER_MINUTE = 10_000
    settings.EMAIL_HOST = "mail.example"
    settings.OIDC_ISSUER = ""
    return furnish(committed.project)
