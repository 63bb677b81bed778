"""Quarantines for tests of pages: made as people make them, dated as a test needs them."""

from datetime import datetime, timedelta

from django.utils import timezone

from dashboard.quarantine.models import Quarantine
from dashboard.quarantine.services import Actor, Terms, quarantine_create
from dashboard.quarantine.states import Action, ActorKind
from ingest.models import Test
from tests.web.analysed_project import Demo

ANNA = Actor(ActorKind.PERSON, "anna")


def flaky(demo: Demo, count: int = 1) -> list[Test]:
    """The first tests that are known to be flaky, with plain names."""
    rows = demo.api.read("tests?state=flaky&sort=number&page_size=100")["results"]
    numbers = [row["number"] for row in rows if row["name"].isidentifier()][:count]
    assert len(numbers) == count
    return list(Test.objects.filter(project=demo.project, number__in=numbers).order_by("number"))


def quarantined(
    demo: Demo, *tests: Test, action: Action = Action.QUARANTINE, began: datetime | None = None, days: int = 30, **said
) -> Quarantine:
    """A quarantine of these tests by Anna, so many days before its end."""
    began = began or timezone.now()
    terms = Terms(**{"reason": "it flakes", "expires_at": began + timedelta(days=days), **said})
    return quarantine_create(project=demo.project, tests=tests, actor=ANNA, terms=terms, action=action, now=began)
