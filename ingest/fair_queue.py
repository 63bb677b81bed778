"""Whose upload is next: each worker serves the projects that wait in turn, and of each its oldest upload.

A message of the broker says that an upload waits; whoever takes it claims the upload whose turn it is, and where that
is another one the message goes back into the queue. So each upload's message is there until it is claimed, whatever is
claimed before it, and nothing is left waiting for the sweep. A project that sent a thousand keeps another one waiting
for the uploads that the workers have in their hands and no longer; one that waits alone gets every worker, since
nothing is held back for others that are not there. The turn is remembered by the worker alone, which costs no write and
no lock beyond its own claim. What others are claiming at the moment is passed over: nobody waits for them."""

import secrets
from datetime import timedelta
from typing import Protocol

from django.db import transaction
from django.db.models import Q, QuerySet
from django.db.models.functions import Now

from ingest.leases import Claim
from ingest.models import Project, Upload

_GRACE = timedelta(seconds=2)
"""What came just now is left to whoever was woken for it."""


class UploadClaim(Protocol):
    def __call__(self, *, upload_id: int) -> Claim[Upload] | None: ...


class Turns:
    """The projects as one worker goes round them."""

    def __init__(self, last: int | None = None) -> None:
        self._last = last

    @transaction.atomic
    def claim(self, *, woken_for: int, claim: UploadClaim) -> Claim[Upload] | None:
        """Claim the oldest upload of the next project after the one that was served last; None where none waits."""
        if self._last is None:
            self._last = _anywhere()
        waiting = _waiting(woken_for).values_list("pk", "project_id")
        found = waiting.filter(project_id__gt=self._last).first() or waiting.filter(project_id__lte=self._last).first()
        if found is None:
            return None
        upload_id, self._last = found
        return claim(upload_id=upload_id)


def _waiting(woken_for: int) -> "QuerySet[Upload]":
    """What pauses after an error is left until the pause is over."""
    unpaused = Q(tries=0) | Q(lease_until=None) | Q(lease_until__lte=Now())
    ready = Q(pk=woken_for) | Q(received_at__lte=Now() - _GRACE) & unpaused
    waiting = Upload.objects.filter(ready, state=Upload.State.RECEIVED)
    return waiting.order_by("project_id", "received_at", "pk").select_for_update(skip_locked=True)


def _anywhere() -> int:
    """Where a new worker begins: those that are replaced after each upload must not all begin with the same project."""
    newest = Project.all_objects.order_by("-pk").values_list("pk", flat=True).first() or 0
    return secrets.randbelow(newest + 1)
