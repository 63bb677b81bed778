"""A project with one person of each role, and a stranger."""

from dataclasses import dataclass

import pytest
from django.contrib.auth.models import User
from django.test import Client

from dashboard.people.models import Role
from ingest.models import Project
from tests.people.signed_in import browser_of, member

PASSWORD = "a-long-password"


@dataclass(frozen=True)
class People:
    viewer: User
    maintainer: User
    administrator: User
    stranger: User
    root: User

    def browser(self, name: str) -> Client:
        return browser_of(getattr(self, name))


@pytest.fixture
def people(project: Project) -> People:
    made = {role.value: member(User.objects.create_user(role.value, password=PASSWORD), project, role) for role in Role}
    stranger = User.objects.create_user("stranger", password=PASSWORD)
    return People(**made, stranger=stranger, root=User.objects.create_superuser("root", password=PASSWORD))
