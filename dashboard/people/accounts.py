"""Accounts as administrators of the instance change them. The instance never loses its last one."""

from django.contrib.auth.models import User
from django.db import transaction

from dashboard.people.audit import audit
from dashboard.people.sessions import sessions_end
from dashboard.people.tokens import personal_tokens_revoke


class LastInstanceAdministrator(Exception):
    sentence = "This is the last active administrator of the instance. Make somebody else one first."


@transaction.atomic
def person_make(*, username: str, email: str = "") -> User:
    """A new account without a password: the person comes in by a one-time link, or by single sign-on."""
    user = User(username=username, email=email)
    user.set_unusable_password()
    user.save()
    audit("person.made", target=username)
    return user


@transaction.atomic
def person_activate(*, user: User, active: bool) -> None:
    """Let somebody in again, or keep them out: their sessions end and their tokens stop at once."""
    if user.is_active == active:
        return
    if not active:
        _check_not_last(user)
    user.is_active = active
    user.save(update_fields=("is_active",))
    audit("person.changed", target=user.get_username(), before={"active": not active}, after={"active": active})
    if not active:
        sessions_end(user=user)


@transaction.atomic
def person_set_instance_administrator(*, user: User, administrator: bool) -> None:
    if user.is_superuser == administrator:
        return
    if not administrator:
        _check_not_last(user)
    user.is_superuser = administrator
    user.save(update_fields=("is_superuser",))
    name = "instance_administrator"
    audit("person.changed", target=user.get_username(), before={name: not administrator}, after={name: administrator})


@transaction.atomic
def password_set(*, user: User, password: str, lost: bool = False) -> int:
    """A new password ends the person's sessions. One that was lost may be known to somebody else, who may have made
    tokens with it: those end too. How many did."""
    user.set_password(password)
    user.save(update_fields=("password",))
    audit("password.set", target=user.get_username(), after={"lost": lost}, actor=user)
    sessions_end(user=user)
    return personal_tokens_revoke(user=user) if lost else 0


def _check_not_last(user: User) -> None:
    """Lock the instance administrators, so that two cannot remove each other, and refuse to remove the last."""
    active = User.objects.select_for_update().filter(is_superuser=True, is_active=True)
    if user.is_superuser and user.is_active and not [admin for admin in active if admin.pk != user.pk]:
        raise LastInstanceAdministrator
