"""Roles: who sees and may do what, how people join and leave, and that somebody always administers."""

import pytest
from django.contrib.auth.models import User
from django.core import mail
from django.db import InternalError, ProgrammingError, connection, transaction
from django.test import Client
from django.urls import reverse

from dashboard import access
from dashboard.people.audit import audit
from dashboard.people.models import AuditEntry, Invitation, Membership, PersonalToken
from ingest.models import Project, Token
from ingest.services import project_create, token_create
from tests.people.conftest import People
from tests.people.signed_in import browser_of


def at(name: str, *args: object) -> str:
    return reverse(name, args=("shop", *args))


def of(user: User) -> Membership:
    return Membership.objects.get(user=user)


def test_people_see_their_own_projects_and_public_ones(people: People, project: Project) -> None:
    other = project_create(slug="other", name="Other")
    assert list(access.user_projects(people.viewer)) == [project]
    assert list(access.user_projects(people.stranger)) == []
    assert set(access.user_projects(people.root)) == {project, other}
    Project.objects.filter(pk=other.pk).update(public=True)
    assert set(access.user_projects(people.viewer)) == {project, other}


def test_a_public_project_is_read_without_signing_in_and_changed_by_nobody_more(
    people: People, project: Project
) -> None:
    assert Client().get(at("project")).status_code == 302
    people.browser("administrator").post(at("project_visibility"), {"public": "yes"})
    page = Client().get(at("project"))
    assert page.status_code == 200
    assert "Analyse now" not in page.content.decode()
    badge = Client().get(at("badge", "flaky"))
    assert (badge.status_code, badge.headers["Cross-Origin-Resource-Policy"]) == (200, "cross-origin")
    assert Client().get(at("flaky_feed")).status_code == 200
    assert Client().post(at("analysis_ask")).url.startswith("/sign-in")
    assert people.browser("stranger").post(at("analysis_ask")).status_code == 403
    assert people.browser("stranger").get(at("members")).status_code == 403


def test_buttons_are_shown_to_those_who_may_press_them(people: People, project: Project) -> None:
    pages = {who: people.browser(who).get(at("setup")).content.decode() for who in ("viewer", "administrator")}
    assert "Create a token" not in pages["viewer"] and "Create a token" in pages["administrator"]
    overview = {who: people.browser(who).get(at("project")).content.decode() for who in ("viewer", "maintainer")}
    assert "Analyse now" not in overview["viewer"] and "Analyse now" in overview["maintainer"]


def test_a_refusal_says_which_role_it_takes(people: People) -> None:
    refused = people.browser("viewer").post(at("setup"), {"name": "x", "scope": "upload"})
    assert refused.status_code == 403
    assert "This takes the role administrator in this project; yours is viewer." in refused.content.decode()
    assert not Token.objects.exists()


def test_a_viewer_sees_no_token_of_the_project(people: People, project: Project) -> None:
    token_create(project=project, name="deploy robot", scope="upload")
    assert "deploy robot" not in people.browser("maintainer").get(at("setup")).content.decode()
    assert "deploy robot" in people.browser("administrator").get(at("setup")).content.decode()


def test_whoever_makes_a_project_administers_it(people: People) -> None:
    browser = people.browser("stranger")
    browser.post("/projects/new", {"name": "Mine", "slug": "mine", "default_branch": "main"})
    assert of(people.stranger).role == "administrator"
    assert browser.get(reverse("members", args=("mine",))).status_code == 200
    assert list(AuditEntry.objects.order_by("pk").values_list("action", flat=True)) == ["project.made", "member.added"]


# -- members -----------------------------------------------------------------------------------------------------


def test_roles_are_changed_and_members_removed(people: People) -> None:
    browser = people.browser("administrator")
    browser.post(at("member_change", of(people.viewer).pk), {"role": "maintainer"})
    assert of(people.viewer).role == "maintainer"
    browser.post(at("member_remove", of(people.maintainer).pk))
    assert not people.maintainer.memberships.exists()
    assert people.browser("maintainer").get(at("project")).status_code == 404


@pytest.mark.parametrize("deed", ["member_remove", "member_change"])
def test_the_last_administrator_stays(people: People, deed: str) -> None:
    browser = people.browser("administrator")
    response = browser.post(at(deed, of(people.administrator).pk), {"role": "viewer"}, follow=True)
    assert "last administrator" in response.content.decode()
    assert of(people.administrator).role == "administrator"


def invite(people: People, **told: str) -> str:
    page = people.browser("administrator").post(at("member_invite"), {"role": "viewer", **told})
    return page.context["address"].partition("8000")[2]


def test_an_invitation_lets_one_person_join_with_a_new_account(people: People, settings) -> None:
    settings.EMAIL_HOST = "mail.example"
    address = invite(people, role="maintainer", email="new@example.com")
    [message] = mail.outbox
    assert message.to == ["new@example.com"] and address in message.body
    assert "Join" in Client().get(address).content.decode()
    newcomer = Client()
    password = {"password1": "a-password-of-length", "password2": "a-password-of-length"}
    assert newcomer.post(address, {"username": "newcomer", **password}).url == at("project")
    assert newcomer.get(at("project")).status_code == 200
    assert of(User.objects.get(username="newcomer")).role == "maintainer"
    assert Client().get(address).status_code == 404


def test_an_invitation_is_accepted_by_an_account_that_exists(people: People) -> None:
    address = invite(people)
    assert people.browser("stranger").post(address).url == at("project")
    assert of(people.stranger).role == "viewer"


def test_an_invitation_ends_when_taken_back_or_too_old(people: People) -> None:
    first, second = invite(people), invite(people)
    newest = Invitation.objects.first()
    people.browser("administrator").post(at("invitation_revoke", newest.pk))
    assert people.browser("stranger").post(second).status_code == 404
    Invitation.objects.update(expires_at="2020-01-01T00:00:00Z")
    assert people.browser("stranger").post(first).status_code == 404
    assert Client().get("/invitations/nonsense").status_code == 404


def test_only_the_digest_of_an_invitation_is_kept(people: People) -> None:
    secret = invite(people).rpartition("/")[2]
    assert secret not in str(list(Invitation.objects.values())) + str(list(AuditEntry.objects.values()))


# -- people of the instance --------------------------------------------------------------------------------------


def act(people: People, user: User, deed: str) -> str:
    return people.browser("root").post(f"/people/{user.pk}/{deed}", follow=True).content.decode()


def test_the_instance_is_administered_by_its_administrators_alone(people: People) -> None:
    for who in ("viewer", "administrator"):
        assert [people.browser(who).get(address).status_code for address in ("/people", "/audit")] == [404, 404]
    assert "stranger" in people.browser("root").get("/people").content.decode()


def test_a_deactivated_person_is_out_at_once(people: People, project: Project) -> None:
    browser = people.browser("viewer")
    browser.get("/account")
    text = token_of(people.viewer)
    act(people, people.viewer, "deactivate")
    assert browser.get("/account").status_code == 302
    assert api(text).status_code == 401
    act(people, people.viewer, "activate")
    assert api(text).status_code == 200


def test_the_last_administrator_of_the_instance_stays(people: People) -> None:
    for deed in ("deactivate", "demote"):
        assert "last active administrator" in act(people, people.root, deed)
    act(people, people.viewer, "promote")
    assert "no longer administers" in act(people, people.root, "demote")


def test_somebody_is_added_and_comes_in_by_a_link_once(people: People) -> None:
    page = people.browser("root").post("/people", {"username": "newcomer", "email": "n@example.com"})
    link = page.context["address"].partition("8000")[2]
    assert Client().post(link).url == "/password"
    assert Client().post(link).status_code == 403


# -- personal tokens ---------------------------------------------------------------------------------------------


def token_of(user: User, scope: str = "read", **form: object) -> str:
    page = browser_of(user).post("/account", {"name": "laptop", "scope": scope, "days": 365, **form})
    return page.context["text"]


def api(token: str, path: str = "tests", method: str = "get", slug: str = "shop"):
    return getattr(Client(), method)(f"/api/v1/projects/{slug}/{path}", headers={"authorization": f"Bearer {token}"})


def test_a_personal_token_may_what_scope_and_role_both_allow(people: People, project: Project) -> None:
    project_create(slug="other", name="Other")
    viewer, maintainer = token_of(people.viewer, "upload"), token_of(people.maintainer, "upload")
    assert api(viewer).status_code == 200
    refused = api(viewer, "uploads", "post")
    assert (refused.status_code, refused.json()["error"]["code"]) == (403, "forbidden")
    assert api(maintainer, "uploads", "post").status_code == 422
    assert api(token_of(people.maintainer, "read"), "uploads", "post").status_code == 403
    assert api(maintainer, slug="other").status_code == api(maintainer, slug="nowhere").status_code == 404
    assert api(token_of(people.root), slug="other").status_code == 200


def test_a_personal_token_is_shown_once_and_kept_as_a_digest(people: People) -> None:
    text = token_of(people.viewer)
    assert text.startswith("flk_read_")
    assert text not in people.browser("viewer").get("/account").content.decode()
    assert text not in str(list(PersonalToken.objects.values())) + str(list(AuditEntry.objects.values()))


def test_a_personal_token_stops_when_revoked_and_when_expired(people: People) -> None:
    text = token_of(people.viewer)
    token = PersonalToken.objects.get()
    assert people.browser("stranger").post(f"/account/tokens/{token.pk}/revoke").status_code == 404
    assert api(text).status_code == 200
    people.browser("viewer").post(f"/account/tokens/{token.pk}/revoke")
    assert api(text).status_code == 401
    late = token_of(people.viewer)
    PersonalToken.objects.update(expires_at="2020-01-01T00:00:00Z")
    assert api(late).status_code == 401


def test_no_token_opens_a_page_about_tokens(people: People) -> None:
    headers = {"authorization": f"Bearer {token_of(people.root, 'upload')}"}
    assert [Client().get(page, headers=headers).status_code for page in ("/account", at("setup"), "/people")] == [
        302
    ] * 3


# -- the audit log -----------------------------------------------------------------------------------------------


def test_the_audit_log_is_filtered_and_exported(people: People, project: Project) -> None:
    people.browser("administrator").post(at("setup"), {"name": "=cmd()", "scope": "read"})
    people.browser("administrator").post(at("project_visibility"), {"public": "yes"})
    shown = people.browser("administrator").get(at("project_audit"), {"action": "project.changed"}).content.decode()
    assert "public was" in shown and "token.made" not in shown.partition("<tbody>")[2]
    file = people.browser("root").get("/audit", {"format": "json", "who": "administrator"}).getvalue().decode()
    assert '"action": "token.made"' in file and '"project": "shop"' in file
    assert people.browser("maintainer").get(at("project_audit")).status_code == 403


def test_an_entry_names_who_from_where_and_the_request(people: People, project: Project) -> None:
    people.browser("administrator").post(
        at("setup"), {"name": "ci", "scope": "read"}, headers={"x-request-id": "request-4711"}
    )
    entry = AuditEntry.objects.get()
    assert (entry.actor, entry.actor_kind, entry.address) == (people.administrator, "person", "127.0.0.1")
    assert (entry.request_id, entry.project, entry.after) == ("request-4711", project, {"name": "ci", "scope": "read"})


def test_entries_outlive_project_and_person_and_are_never_changed(people: People, project: Project) -> None:
    people.browser("administrator").post(at("setup"), {"name": "ci", "scope": "read"})
    people.administrator.delete()
    project.delete()
    entry = AuditEntry.objects.get()
    assert (entry.actor, entry.actor_name, entry.project, entry.project_slug) == (None, "administrator", None, "shop")
    for statement in ("UPDATE people_auditentry SET action = 'x'", "DELETE FROM people_auditentry"):
        with pytest.raises((InternalError, ProgrammingError), match="only ever added to"), transaction.atomic():
            connection.cursor().execute(statement)


def test_secrets_are_not_written_down(project: Project) -> None:
    _, text = token_create(project=project, name="ci", scope="upload")
    entry = audit(
        "settings.set", project=project, target=text, after={"webhook_secret": "s3", "url": f"https://x/{text}"}
    )
    assert (entry.actor_kind, entry.target) == ("system", "flk_...")
    assert entry.after == {"url": "https://x/flk_..."}
