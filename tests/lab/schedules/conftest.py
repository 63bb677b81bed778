"""A program that asks for schedules, and a browser beside it."""

import pytest
from django.contrib.auth.models import User
from django.test import Client

from ingest.models import Project
from tests.api_client import Program
from tests.people.signed_in import browser_of, member


@pytest.fixture
def ci(upload_token: str) -> Program:
    return Program(upload_token)


@pytest.fixture
def page(project: Project) -> Client:
    return browser_of(member(User.objects.create_user("anna"), project))
