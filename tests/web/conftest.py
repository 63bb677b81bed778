"""Somebody who is signed in, and static files without the manifest that `serve` writes."""

import pytest
from django.contrib.auth.models import User
from django.test import Client

from ingest.models import Project
from tests.dashboard.conftest import committed, shop
from tests.people.signed_in import browser_of
from tests.web.analysed_project import committed_demo, demo, reader

__all__ = ["committed", "committed_demo", "demo", "reader", "shop"]


@pytest.fixture(autouse=True)
def _plain_static_files(settings) -> None:  # type: ignore[no-untyped-def]
    plain = {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"}
    settings.STORAGES = {**settings.STORAGES, "staticfiles": plain}


@pytest.fixture
def person(db: None) -> User:
    """Somebody who sees every project that a test makes."""
    return User.objects.create_superuser("kim", password="a-long-password")


@pytest.fixture
def page(person: User, project: Project) -> Client:
    """A browser of somebody signed in, beside a project."""
    return browser_of(person)
