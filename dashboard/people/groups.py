"""Roles by the groups of the single sign-on: set anew at each sign-in, and only for projects that the rules name."""

from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from django.conf import settings
from django.contrib.auth.models import User
from django.db import transaction

from dashboard.ops.environment import BadSetting
from dashboard.people.accounts import LastInstanceAdministrator, person_set_instance_administrator
from dashboard.people.audit import audit
from dashboard.people.models import Membership, Role
from ingest.models import Project

INSTANCE = "*"


@dataclass(frozen=True, slots=True)
class Rule:
    """Who is in the group has the role in the project; `project` is `*` for administrators of the instance."""

    group: str
    project: str
    role: str


def rules() -> list[Rule]:
    return [_rule(text) for text in settings.OIDC_GROUP_ROLES]


def _rule(text: str) -> Rule:
    group, equals, rest = text.partition("=")
    project, _, role = rest.partition(":")
    if not (group and equals and project) or (project != INSTANCE and role not in Role.values):
        roles = ", ".join(Role.values)
        raise BadSetting(f"OIDC_GROUP_ROLES: {text!r} must be group=project:role (one of {roles}) or group=*.")
    return Rule(group, project, role)


@transaction.atomic
def roles_from_groups(user: User, claims: dict[str, Any]) -> None:
    """Grant the roles of the user's groups and end those of former groups, keeping roles that were given by hand."""
    claim = claims.get(settings.OIDC_GROUPS_CLAIM, [])
    groups = {str(group) for group in claim} if isinstance(claim, list) else {str(claim)}
    known = rules()
    held = [rule for rule in known if rule.group in groups]
    if any(rule.project == INSTANCE for rule in known):
        _set_instance(user, any(rule.project == INSTANCE for rule in held))
    for project in Project.objects.filter(slug__in={rule.project for rule in known}):
        given = [rule.role for rule in held if rule.project == project.slug]
        _set_role(user, project, max(given, key=Role.values.index) if given else None)


def _set_instance(user: User, held: bool) -> None:
    with suppress(LastInstanceAdministrator):
        person_set_instance_administrator(user=user, administrator=held)


def _set_role(user: User, project: Project, role: str | None) -> None:
    known = Membership.objects.filter(user=user, project=project).first()
    before = known.role if known is not None else None
    if before == role or (known is not None and not known.by_group):
        return
    if role is None:
        Membership.objects.filter(user=user, project=project).delete()
    else:
        Membership.objects.update_or_create(user=user, project=project, defaults={"role": role, "by_group": True})
    audit(
        "member.by_group",
        project=project,
        target=user.get_username(),
        before={"role": before},
        after={"role": role},
        actor=user,
    )
