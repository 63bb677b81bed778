"""Sessions: made when a person signs in, listed for them, ended one by one or all but this."""

import time
from datetime import datetime
from typing import Any

from django.contrib.auth import login, logout
from django.contrib.auth.models import User
from django.contrib.sessions.backends.db import SessionStore
from django.contrib.sessions.models import Session
from django.db import transaction
from django.db.models import Exists, OuterRef, QuerySet
from django.http import HttpRequest
from django.utils import timezone

from dashboard.people.audit import audit
from dashboard.people.models import SignedIn
from dashboard.people.request_context import client_address

BACKEND = "django.contrib.auth.backends.ModelBackend"
_SEEN = "seen_at"
"""In the session: when it was last noted as seen, so that most requests write nothing."""
_SEEN_EVERY = 300


@transaction.atomic
def sign_in(request: HttpRequest, user: User, *, by: str) -> None:
    """Begin a session, under a new key; `by` is how the person proved who they are."""
    login(request, user, backend=BACKEND)
    session_note(request)
    audit("sign_in", target=user.get_username(), after={"by": by}, actor=user)


def sign_out(request: HttpRequest) -> None:
    if request.user.is_authenticated:
        SignedIn.objects.filter(key=request.session.session_key).delete()
        audit("sign_out", target=request.user.get_username())
    logout(request)


def session_seen(request: HttpRequest) -> None:
    """Note that a session is in use: every few minutes, and when it is new."""
    if time.time() - request.session.get(_SEEN, 0) > _SEEN_EVERY:
        session_note(request)


def session_note(request: HttpRequest) -> None:
    request.session[_SEEN] = int(time.time())
    if request.session.session_key is None:
        request.session.save()
    now: dict[str, Any] = {
        "user": request.user,
        "device": request.headers.get("User-Agent", "").replace("\0", "")[:300],
        "address": client_address(request),
        "seen_at": timezone.now(),
    }
    SignedIn.objects.update_or_create(key=request.session.session_key, defaults=now)


def sessions_of(user: User) -> "QuerySet[SignedIn]":
    """A user's live sessions; rows of sessions that expired or were ended are deleted."""
    sessions = SignedIn.objects.filter(user=user)
    alive = Session.objects.filter(expire_date__gt=timezone.now()).values("session_key")
    sessions.exclude(key__in=alive).delete()
    return sessions


@transaction.atomic
def session_end(*, session: SignedIn) -> None:
    """End a session: its next request is asked to sign in."""
    SessionStore(session.key).delete()
    session.delete()
    audit("session.ended", target=session.user.get_username(), before={"address": session.address})


@transaction.atomic
def sessions_end(*, user: User, but: str | None = None) -> int:
    """End all sessions of a person, but the one with this key."""
    ending = SignedIn.objects.filter(user=user).exclude(key=but or "")
    keys = list(ending.values_list("key", flat=True))
    Session.objects.filter(session_key__in=keys).delete()
    ending.delete()
    if keys:
        audit("session.ended", target=user.get_username(), before={"sessions": len(keys)})
    return len(keys)


@transaction.atomic
def sessions_forget(*, before: datetime, at_most: int = 1_000) -> int:
    """Delete sessions that ended before a moment, and what was listed of them; how many."""
    ended = Session.objects.filter(expire_date__lt=before).values_list("session_key", flat=True)
    keys = list(ended[:at_most])
    Session.objects.filter(session_key__in=keys, expire_date__lt=before).delete()
    listed = SignedIn.objects.filter(~Exists(Session.objects.filter(session_key=OuterRef("key"))), seen_at__lt=before)
    listed.filter(pk__in=list(listed.values_list("pk", flat=True)[:at_most])).delete()
    return len(keys)
