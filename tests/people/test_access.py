"""Who may do what, rule by rule: roles and actions, scopes and actions, and what is said where it is refused."""

from datetime import UTC, datetime, timedelta

import pytest
from django.contrib.auth.models import AnonymousUser, User
from django.core.exceptions import PermissionDenied
from django.http import Http404

from dashboard import access
from dashboard.ci_trust.models import TrustedRepository
from dashboard.people.models import Membership, PersonalToken, Role
from dashboard.people.tokens import personal_token_make
from ingest.models import Project, Token
from ingest.services import project_create, token_create, token_revoke
from ingest.tokens import new_token
from tests.people.conftest import People

_VIEWER = {"read", "see_members"}
_MAINTAINER = _VIEWER | {"decide", "refresh", "reprocess", "quarantine", "upload", "gate"}
_ADMINISTRATOR = _MAINTAINER | {"policy", "settings", "tokens", "members", "audit", "delete"}
ROLES = {
    "viewer": _VIEWER,
    "maintainer": _MAINTAINER,
    "administrator": _ADMINISTRATOR,
    "stranger": set(),
    "root": _ADMINISTRATOR,
    "anonymous": set(),
}
SCOPES = {
    "upload": {"upload", "reprocess", "read", "decide", "refresh", "gate"},
    "gate": {"read", "gate"},
    "read": {"read"},
    "quarantine": {"read", "quarantine", "policy", "settings"},
}
SHOP, OTHER = Project(pk=1, slug="shop"), Project(pk=2, slug="other")


def person(people: People, who: str) -> access.Person:
    return AnonymousUser() if who == "anonymous" else User.objects.get(username=who)


# -- without a database ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("scope", SCOPES)
def test_a_token_of_the_project_may_what_its_scope_says(scope: str) -> None:
    token = Token(project=SHOP, scope=scope)
    assert {action for action in _ADMINISTRATOR if access.token_may(token, SHOP, action)} == SCOPES[scope]
    assert not any(access.token_may(token, OTHER, action) for action in _ADMINISTRATOR)
    assert not access.token_may(token, SHOP, "an action that nobody knows")


@pytest.mark.parametrize(("scope", "allowed"), [("upload", {"upload", "gate", "read"}), ("gate", {"gate", "read"})])
def test_an_id_token_may_send_and_ask_and_read_and_no_more(scope: str, allowed: set[str]) -> None:
    trusted = TrustedRepository(project=SHOP, scope=scope)
    assert {action for action in _ADMINISTRATOR if access.token_may(trusted, SHOP, action)} == allowed
    assert not any(access.token_may(trusted, OTHER, action) for action in _ADMINISTRATOR)


def test_a_token_opens_its_own_project() -> None:
    for token in (Token(project=SHOP), TrustedRepository(project=SHOP)):
        assert access.token_project(token, "shop") is SHOP
        with pytest.raises(Http404):
            access.token_project(token, "other")


@pytest.mark.parametrize(
    ("token", "action", "sentence"),
    [
        (Token(scope="read"), "gate", "This token's scope is read; this needs gate or upload."),
        (Token(scope="gate"), "members", "This token's scope is gate; this needs a person, signed in."),
        (
            TrustedRepository(scope="upload"),
            "reprocess",
            "An ID token of CI may send results, ask the gate and read. This needs a token of the project.",
        ),
        (
            PersonalToken(scope="upload"),
            "upload",
            "This needs the role maintainer in this project, which the token's owner does not have.",
        ),
    ],
    ids=["scope", "no scope", "ID token", "role"],
)
def test_a_refusal_of_a_token_says_what_it_needs(token: access.Key, action: str, sentence: str) -> None:
    assert access.token_refusal(token, SHOP, action) == sentence


def test_who_administers_the_instance_is_active_and_signed_in() -> None:
    assert access.is_instance_administrator(User(is_superuser=True))
    assert not access.is_instance_administrator(User(is_superuser=True, is_active=False))
    assert not access.is_instance_administrator(User())
    assert not access.is_instance_administrator(AnonymousUser())


def test_what_does_not_look_like_a_token_is_refused_without_asking_the_database() -> None:
    right = new_token("read")
    for text in ("", "nonsense", right[:-1], right[:-1] + ("a" if right[-1] != "a" else "b")):
        assert access.token_find(text) is None


# -- people ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("who", ROLES)
def test_a_person_may_what_their_role_says(people: People, project: Project, who: str) -> None:
    user = person(people, who)
    assert {action for action in _ADMINISTRATOR if access.user_may(user, project, action)} == ROLES[who]
    project.public = True
    assert {action for action in _ADMINISTRATOR if access.user_may(user, project, action)} == ROLES[who] | {"read"}


@pytest.mark.parametrize("who", ROLES)
def test_a_refusal_names_the_role_that_it_takes_and_the_one_that_somebody_has(
    people: People, project: Project, who: str
) -> None:
    user, role = person(people, who), "you have none" if who in ("stranger", "anonymous") else f"yours is {who}"
    for action in _ADMINISTRATOR:
        if action in ROLES[who]:
            access.user_require(user, project, action)
            continue
        with pytest.raises(PermissionDenied) as refused:
            access.user_require(user, project, action)
        least = next(name for name in ("viewer", "maintainer", "administrator") if action in ROLES[name])
        assert str(refused.value) == (
            f"This takes the role {least} in this project; {role}. Its administrators can change that."
        )


def test_a_role_is_asked_for_once(people: People, project: Project, django_assert_num_queries) -> None:
    for who, role in (("viewer", Role.VIEWER), ("administrator", Role.ADMINISTRATOR), ("stranger", None)):
        user = person(people, who)
        with django_assert_num_queries(1):
            assert [access.user_role(user, project) for _ in range(2)] == [role] * 2
    root = person(people, "root")
    with django_assert_num_queries(0):
        assert access.user_role(root, project) is Role.ADMINISTRATOR
        assert access.user_role(AnonymousUser(), project) is None


def test_a_role_comes_with_the_project(people: People, project: Project, django_assert_num_queries) -> None:
    other = project_create(slug="other", name="Other")
    Membership.objects.create(user=people.viewer, project=other, role=Role.MAINTAINER)
    user = person(people, "viewer")
    with django_assert_num_queries(2):
        found = [access.user_project(user, slug) for slug in ("shop", "other")]
        assert [access.user_role(user, one) for one in found] == [Role.VIEWER, Role.MAINTAINER]
    project_public(project)
    user = person(people, "stranger")
    with django_assert_num_queries(1):
        assert access.user_role(user, access.user_project(user, "shop")) is None


def project_public(project: Project) -> None:
    Project.objects.filter(pk=project.pk).update(public=True)


@pytest.mark.parametrize("who", ROLES)
def test_a_project_that_somebody_may_not_see_is_not_there(people: People, project: Project, who: str) -> None:
    user = person(people, who)
    if ROLES[who]:
        assert access.user_project(user, "shop") == project
    else:
        with pytest.raises(Http404):
            access.user_project(user, "shop")
    with pytest.raises(Http404):
        access.user_project(user, "nowhere")
    project_public(project)
    assert access.user_project(user, "shop") == project
    assert list(access.user_projects(user)) == [project]


# -- tokens ------------------------------------------------------------------------------------------------------


def personal(user: User, scope: str) -> tuple[PersonalToken, str]:
    return personal_token_make(user=user, name="laptop", scope=scope)


def test_a_token_is_found_until_it_expires_or_is_revoked(people: People, project: Project, monkeypatch) -> None:
    made = [token_create(project=project, name="ci", scope="read"), personal(people.viewer, "read")]
    endless = token_create(project=project, name="old", scope="read")
    Token.objects.filter(pk=endless[0].pk).update(expires_at=None)
    for token, text in (*made, endless):
        assert access.token_find(text) == token
    assert access.token_find(new_token("read")) is None
    ends = datetime(2031, 1, 1, tzinfo=UTC)
    for token, text in made:
        type(token).objects.filter(pk=token.pk).update(expires_at=ends)
        for now, expected in ((ends - timedelta(seconds=1), token), (ends, None), (ends + timedelta(seconds=1), None)):
            monkeypatch.setattr(access.timezone, "now", lambda now=now: now)
            assert access.token_find(text) == expected
            assert access.token_find(endless[1]) == endless[0]
        monkeypatch.undo()
    token_revoke(token=endless[0])
    PersonalToken.objects.update(revoked_at=ends, expires_at=ends)
    assert [access.token_find(text) for _, text in (made[1], endless)] == [None, None]


def test_a_persons_token_ends_with_the_person(people: People) -> None:
    _, text = personal(people.viewer, "read")
    User.objects.filter(pk=people.viewer.pk).update(is_active=False)
    assert access.token_find(text) is None


@pytest.mark.parametrize("who", ["viewer", "maintainer", "administrator", "stranger", "root"])
def test_a_persons_token_may_what_scope_and_role_both_allow(people: People, project: Project, who: str) -> None:
    other = project_create(slug="other", name="Other")
    for scope, allowed in SCOPES.items():
        token = access.token_find(personal(getattr(people, who), scope)[1])
        assert {action for action in _ADMINISTRATOR if access.token_may(token, project, action)} == allowed & ROLES[who]
        assert any(access.token_may(token, other, action) for action in allowed) == (who == "root")
        if ROLES[who]:
            assert access.token_project(token, "shop") == project
        else:
            with pytest.raises(Http404):
                access.token_project(token, "shop")
