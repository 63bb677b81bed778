"""The audit log: one call where something was changed. Who asks is known by itself."""

from typing import Any

from django.contrib.auth.models import User

from dashboard.ops.logs import about
from dashboard.people.models import AuditEntry, PersonalToken
from dashboard.people.request_context import client_address, current_request
from ingest.models import Project
from ingest.tokens import redact

_Kind = AuditEntry.ActorKind
_SECRET = ("password", "secret", "token", "digest", "authorization", "cookie", "key")
"""Values whose name holds one of these are not written."""
_LONGEST = 2_000
_NAME = 200


def audit(
    action: str,
    *,
    project: Project | None = None,
    target: object = "",
    before: Any = None,
    after: Any = None,
    actor: User | None = None,
) -> AuditEntry:
    """Write down that something was changed: `audit("owners.set", project=project, before=old, after=new)`.

    `actor` is only for who is not yet, or no longer, signed in. Secrets in the values are left out."""
    request = current_request()
    return AuditEntry.objects.create(
        **_actor(actor),
        address=client_address(request) if request is not None else None,
        request_id=str(about().get("request", ""))[:64],
        action=action,
        project=project,
        project_slug=project.slug if project is not None else "",
        target=_text(target)[:_NAME],
        before=_values_by_name(before),
        after=_values_by_name(after),
    )


def _actor(user: User | None) -> dict[str, Any]:
    request = current_request()
    if user is None and request is None:
        return {"actor_kind": _Kind.SYSTEM}
    key = getattr(request, "key", None)
    if user is None and key is not None and not isinstance(key, PersonalToken):
        return {"actor_kind": _Kind.TOKEN, "actor_name": key.name[:_NAME]}
    known = user or (key.user if key is not None else getattr(request, "user", None))
    if known is None or not known.is_authenticated:
        return {"actor_kind": _Kind.ANONYMOUS}
    return {"actor_kind": _Kind.PERSON, "actor_id": known.pk, "actor_name": known.get_username()[:_NAME]}


def _values_by_name(value: Any) -> dict[str, Any] | None:
    """Values as a cleaned dictionary; a bare value is stored under the name `value`."""
    return None if value is None else _clean(value if isinstance(value, dict) else {"value": value})


def _clean(value: Any) -> Any:
    """As JSON, without secrets and without what would make a row large."""
    if isinstance(value, dict):
        return {str(name): _clean(inner) for name, inner in value.items() if not _is_secret(str(name))}
    if isinstance(value, list | tuple | set | frozenset):
        return [_clean(inner) for inner in value][:_LONGEST]
    if value is None or isinstance(value, bool | int | float):
        return value
    return _text(value)[:_LONGEST]


def _is_secret(name: str) -> bool:
    return any(word in name.lower() for word in _SECRET)


def _text(value: object) -> str:
    return redact(str(value).replace("\0", ""))
