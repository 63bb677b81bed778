"""Writes: a project's tracker. The token goes in and never comes out; a changed address takes it along."""

import re
from dataclasses import dataclass

from django.core.exceptions import ValidationError
from django.core.validators import validate_email
from django.db import transaction
from django.utils import timezone

from dashboard.notify.channels import BadField
from dashboard.notify.encryption import seal
from dashboard.notify.models import TrackerSettings
from dashboard.notify.safe_http import Refused, target_of
from dashboard.notify.tickets.drafts import BadTemplate, template_check
from dashboard.people.audit import audit
from ingest.models import Project

_GITHUB = re.compile(r"[A-Za-z0-9_.-]{1,100}/[A-Za-z0-9_.-]{1,100}")
_GITLAB = re.compile(r"[0-9]{1,18}|[A-Za-z0-9_.-]{1,100}(/[A-Za-z0-9_.-]{1,100}){1,20}")
_KEY = re.compile(r"[A-Z][A-Z0-9_]{0,49}")
Kind = TrackerSettings.Kind
_PLACES = {
    Kind.GITHUB: (_GITHUB, "Say it as owner/name."),
    Kind.GITLAB: (_GITLAB, "Say it as group/project."),
    Kind.JIRA: (_KEY, "Say the project's key, such as SHOP."),
    Kind.JIRA_SERVER: (_KEY, "Say the project's key, such as SHOP."),
    Kind.LINEAR: (_KEY, "Say the team's key, such as ENG."),
}
_JIRA = (Kind.JIRA, Kind.JIRA_SERVER)


class BadTracker(BadField):
    """A tracker that cannot be."""


@dataclass(frozen=True, slots=True)
class TrackerValues:
    """What somebody says of a tracker. A token that is None stays as it is."""

    kind: str
    template: str = ""
    base_url: str = ""
    repository: str = ""
    token: str | None = None
    account: str = ""
    issue_type: str = ""


@transaction.atomic
def tracker_set(*, project: Project, wanted: TrackerValues) -> bool:
    """Save the tracker; return True if its token was cleared because it would have gone to another address."""
    _check(wanted)
    now, _ = TrackerSettings.objects.select_for_update().get_or_create(project=project)
    moved = (now.kind, now.base_url) != (wanted.kind, wanted.base_url)
    keep = wanted.token is None and not moved
    cleared = moved and bool(now.token) and not wanted.token
    TrackerSettings.objects.filter(pk=now.pk).update(
        kind=wanted.kind,
        template=wanted.template,
        base_url=wanted.base_url,
        repository=wanted.repository,
        account=wanted.account,
        issue_type=wanted.issue_type,
        token=now.token if keep else seal(wanted.token or ""),
        updated_at=timezone.now(),
    )
    audit(
        "tracker.set",
        project=project,
        before=_audit_values(now),
        after=_audit_values(TrackerSettings.objects.get(pk=now.pk)),
    )
    return cleared


_SHOWN = ("kind", "template", "base_url", "repository", "account", "issue_type")


def _audit_values(tracker: TrackerSettings) -> dict[str, object]:
    return {name: getattr(tracker, name) for name in _SHOWN}


def _check(wanted: TrackerValues) -> None:
    if wanted.kind not in Kind.values:
        raise BadTracker("kind", "There is no such tracker.")
    if wanted.template:
        try:
            template_check(wanted.template)
        except BadTemplate as error:
            raise BadTracker("template", str(error)) from error
    if wanted.base_url:
        try:
            target_of(wanted.base_url)
        except Refused as error:
            raise BadTracker("base_url", str(error)) from error
    _check_repository(wanted)


def _check_repository(wanted: TrackerValues) -> None:
    kind = Kind(wanted.kind)
    pattern, sentence = _PLACES.get(kind, (None, ""))
    if pattern is not None and not pattern.fullmatch(wanted.repository):
        raise BadTracker("repository", sentence)
    if kind in _JIRA and not wanted.base_url:
        raise BadTracker("base_url", "Say where your Jira is, such as https://corp.atlassian.net.")
    if kind is Kind.JIRA:
        try:
            validate_email(wanted.account)
        except ValidationError as error:
            raise BadTracker("account", "A token of Jira Cloud belongs to an e-mail address: say it.") from error
