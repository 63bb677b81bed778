"""Members of a project: who is one, in which role. A project never loses its last administrator."""

from django.contrib.auth.models import User
from django.db import transaction

from dashboard.people.audit import audit
from dashboard.people.models import Membership, Role
from ingest.models import Project


class LastAdministrator(Exception):
    """Without this person nobody could administer the project."""

    sentence = "This is the project's last administrator. Make somebody else one first."


@transaction.atomic
def member_add(*, project: Project, user: User, role: str, by_group: bool = False) -> Membership:
    """Make somebody a member. Who is one already keeps the higher role."""
    _lock(project)
    known = Membership.objects.filter(project=project, user=user).first()
    if known is not None:
        if _rank(role) > _rank(known.role):
            member_change(membership=known, role=role)
        return known
    made = Membership.objects.create(project=project, user=user, role=role, by_group=by_group)
    audit("member.added", project=project, target=user.get_username(), after={"role": role})
    return made


@transaction.atomic
def member_change(*, membership: Membership, role: str) -> None:
    _lock(membership.project)
    before = Membership.objects.get(pk=membership.pk).role
    if before == role:
        return
    if before == Role.ADMINISTRATOR:
        _check_other_administrator(membership)
    membership.role, membership.by_group = role, False
    membership.save(update_fields=("role", "by_group"))
    _audit_membership("member.changed", membership, {"role": before}, {"role": role})


@transaction.atomic
def member_remove(*, membership: Membership) -> None:
    _lock(membership.project)
    if membership.role == Role.ADMINISTRATOR:
        _check_other_administrator(membership)
    membership.delete()
    _audit_membership("member.removed", membership, {"role": membership.role}, None)


def members_of(project: Project) -> list[Membership]:
    """A project's members, strongest role first, then by name."""
    found = Membership.objects.filter(project=project).select_related("user").order_by("user__username")
    return sorted(found, key=lambda membership: -_rank(membership.role))


def _rank(role: str) -> int:
    return Role.values.index(role)


def _lock(project: Project) -> None:
    """One change of a project's members at a time: two administrators cannot remove each other."""
    Project.objects.select_for_update().filter(pk=project.pk).first()


def _check_other_administrator(membership: Membership) -> None:
    others = Membership.objects.filter(
        project_id=membership.project_id, role=Role.ADMINISTRATOR, user__is_active=True
    ).exclude(pk=membership.pk)
    if not others.exists():
        raise LastAdministrator


def _audit_membership(
    action: str, membership: Membership, before: dict[str, str], after: dict[str, str] | None
) -> None:
    audit(action, project=membership.project, target=membership.user.get_username(), before=before, after=after)
