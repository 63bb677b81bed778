"""Whose upload is next: each worker serves the projects that wait in turn, and of each its oldest upload.

A message of the broker says that an upload waits; whoever takes it claims the upload whose turn it is, and where that
is another one the message goes back into the queue. So each upload's message is there until it is claimed, whatever is
claimed before it, and nothing is left waiting for the sweep. A project that sent a thousand keeps another one waiting
for the uploads that the workers have in their hands and no longer; one that waits alone gets every worker, since
nothing is held back for others that are not there. The turn is remembered by the worker alone, which costs no write and
no lock. A claim is one statement that passes over what others are claiming: no two get the same."""

import secrets
import uuid
from dataclasses import dataclass
from datetime import timedelta

from django.db import connection

from ingest.models import Project

_NEXT = """
    SELECT id FROM ingest_upload
    WHERE state = 'received' AND project_id {side} %(last)s AND (
        id = %(woken_for)s OR (received_at <= statement_timestamp() - %(grace)s AND (
            tries = 0 OR lease_until IS NULL OR lease_until <= statement_timestamp())))
    ORDER BY project_id, received_at, id LIMIT 1 FOR UPDATE SKIP LOCKED
"""
_CLAIM = f"""
    UPDATE ingest_upload
    SET state = 'processing', claim = %(claim)s, tries = tries + 1, lease_until = statement_timestamp() + %(lease)s
    WHERE id = coalesce(({_NEXT.format(side=">")}), ({_NEXT.format(side="<=")}))
    RETURNING id, project_id
"""  # noqa: S608 - our own words
"""What pauses after an error is left until the pause is over, and what came just now to whoever was woken for it."""
_GRACE = timedelta(seconds=2)


@dataclass(frozen=True, slots=True)
class Claimed:
    """An upload, and the claim under which it is ours."""

    upload_id: int
    claim: uuid.UUID


class Turns:
    """The projects as one worker goes round them."""

    def __init__(self, last: int | None = None) -> None:
        self._last = last

    def claim(self, *, woken_for: int, lease: timedelta) -> Claimed | None:
        """Claim the oldest upload of the next project after the one that was served last; None where none waits."""
        if self._last is None:
            self._last = _anywhere()
        claim = uuid.uuid4()
        values = {"claim": str(claim), "lease": lease, "grace": _GRACE, "last": self._last, "woken_for": woken_for}
        with connection.cursor() as cursor:
            cursor.execute(_CLAIM, values)
            found = cursor.fetchone()
        if found is None:
            return None
        upload_id, self._last = found
        return Claimed(upload_id, claim)


def _anywhere() -> int:
    """Where a new worker begins: those that are replaced after each upload must not all begin with the same project."""
    newest = Project.all_objects.order_by("-pk").values_list("pk", flat=True).first() or 0
    return secrets.randbelow(newest + 1)
