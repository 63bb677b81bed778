"""Writes: where a project's pull requests are. The secret goes in and never comes out; a changed address clears it."""

import re
from dataclasses import dataclass

from django.db import transaction
from django.utils import timezone

from dashboard.notify.channels import BadField
from dashboard.notify.encryption import seal
from dashboard.notify.models import CodeHost, PullReport
from dashboard.notify.safe_http import Refused, target_of
from dashboard.people.audit import audit
from ingest.models import Project

Kind = CodeHost.Kind
_STEP = r"(?!\.{1,2}(?:/|\Z))[A-Za-z0-9_.-]{1,100}"
_OWNER_AND_NAME = re.compile(f"{_STEP}/{_STEP}")
_GITLAB = re.compile(f"[0-9]{{1,18}}|{_STEP}(?:/{_STEP}){{1,20}}")
_NUMBER = re.compile(r"[0-9]{1,18}")
_AUDITED = ("kind", "base_url", "repository", "app_id", "installation_id", "comments", "checks")


class BadHost(BadField):
    """A code host that cannot be."""


@dataclass(frozen=True, slots=True)
class HostValues:
    """What somebody says of a code host. A secret that is None stays as it is."""

    kind: str
    repository: str
    base_url: str = ""
    app_id: str = ""
    installation_id: str = ""
    secret: str | None = None
    comments: bool = True
    checks: bool = True


@transaction.atomic
def code_host_set(*, project: Project, wanted: HostValues) -> bool:
    """Save it, and try again what was refused before; return True if the secret was cleared, because it would have gone
    to another address."""
    _check(wanted)
    held = CodeHost.objects.select_for_update().filter(project=project).first()
    before = {name: getattr(held, name) for name in _AUDITED} if held else {}
    moved = held is not None and (held.kind, held.base_url) != (wanted.kind, wanted.base_url)
    kept = held.secret if held is not None and wanted.secret is None and not moved else seal(wanted.secret or "")
    after = {name: getattr(wanted, name) for name in _AUDITED}
    CodeHost.objects.update_or_create(
        project=project, defaults={**after, "secret": kept, "last_error_at": None, "updated_at": timezone.now()}
    )
    PullReport.objects.filter(project=project).exclude(error="").update(due_at=timezone.now(), tries=0)
    if held is not None and (held.repository, moved) != (wanted.repository, False):
        PullReport.objects.filter(project=project).update(comment="", check_run="", digest="")
    audit("code_host.set", project=project, before=before, after=after)
    return moved and held is not None and bool(held.secret) and not wanted.secret


@transaction.atomic
def code_host_remove(*, project: Project) -> None:
    """Nothing is written any more; what was written stays."""
    if CodeHost.objects.filter(project=project).delete()[0]:
        PullReport.objects.filter(project=project).delete()
        audit("code_host.removed", project=project)


def _check(wanted: HostValues) -> None:
    if wanted.kind not in Kind.values:
        raise BadHost("kind", "There is no such host.")
    if not (_GITLAB if wanted.kind == Kind.GITLAB else _OWNER_AND_NAME).fullmatch(wanted.repository):
        raise BadHost("repository", "Say it as owner/name.")
    if wanted.base_url:
        try:
            target_of(wanted.base_url)
        except Refused as error:
            raise BadHost("base_url", str(error)) from error
    if wanted.kind == Kind.GITHUB_APP:
        for name in ("app_id", "installation_id"):
            if not _NUMBER.fullmatch(getattr(wanted, name)):
                raise BadHost(name, "Say it as a number.")
    secret = wanted.secret or ""
    if wanted.kind != Kind.GITHUB_APP and not (secret.isascii() and (secret.isprintable() or not secret)):
        raise BadHost("secret", "A token is one line of plain characters.")
