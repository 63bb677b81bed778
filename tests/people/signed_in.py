"""People with roles, and their browsers."""

import time

from django.contrib.auth.models import User
from django.test import Client

from dashboard.people.models import Membership, Role
from ingest.models import Project


def member(user: User, project: Project, role: str = Role.ADMINISTRATOR) -> User:
    Membership.objects.update_or_create(user=user, project=project, defaults={"role": role})
    return user


def browser_of(user: User) -> Client:
    """A browser in which the person signed in a moment ago."""
    client = Client()
    client.force_login(user)
    session = client.session
    session["seen_at"] = int(time.time())
    session.save()
    return client
