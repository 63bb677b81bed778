"""An answer's ETag: from what it is made of, so that it is known before the answer is made."""

from collections.abc import Callable
from hashlib import blake2b

from django.db import connection

from analytics.models import Dependency, IncidentDecision, Refresh
from ingest.models import Project

FORM = 1
"""The form of the answers: raise it where one that rests on the same analysis looks different than before."""

Version = Callable[[int], object]
"""From a project's id: a value that changes with what is shown."""

_ALIASES = """
    SELECT md5(string_agg(id || ':' || alias_of_id, ',' ORDER BY id)) FROM ingest_test
    WHERE project_id = %s AND alias_of_id IS NOT NULL
"""


def aliases(project_id: int) -> object:
    """Which tests are called by another one's name now."""
    with connection.cursor() as cursor:
        cursor.execute(_ALIASES, [project_id])
        return cursor.fetchone()


def decisions(project_id: int) -> object:
    """What people said of incidents."""
    decided = IncidentDecision.objects.filter(project_id=project_id).order_by("report_id")
    return list(decided.values_list("report_id", "word", "decided_at"))


def dependencies(project_id: int) -> object:
    """Which dependencies between tests hold."""
    live = Dependency.objects.filter(project_id=project_id, retired_at=None).order_by("pk")
    return list(live.values_list("pk", "last_at"))


def prices(project_id: int) -> object:
    """What the project's costs are priced at."""
    return Project.objects.filter(pk=project_id).values_list("failure_price", "minute_price", "currency").first()


def refresh(project_id: int) -> object:
    """What is asked for and how far it is."""
    shown = ("asked_at", "due_at", "claim", "began_at", "phase", "share", "error")
    return Refresh.objects.filter(project_id=project_id).values_list(*shown).first()


def etag_of(*parts: object) -> str:
    """A weak one: the same conclusions, if not the same bytes."""
    return f'W/"{blake2b(repr((FORM, *parts)).encode(), digest_size=16).hexdigest()}"'
