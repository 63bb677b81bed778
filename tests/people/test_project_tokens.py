"""A project's tokens: two for a change-over, when each was used and ends, and nothing that a token could do to tokens."""

from datetime import timedelta

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from dashboard.people.models import PersonalToken
from dashboard.people.tokens import project_token_revoke
from ingest.models import Project, Token
from ingest.services import token_create
from tests.people.conftest import People

PAGE = "/projects/shop/setup"


def asks(text: str) -> int:
    headers = {"Authorization": f"Bearer {text}"}
    return Client().get("/api/v1/projects/shop/uploads", headers=headers).status_code


def test_two_tokens_work_side_by_side_until_the_old_one_is_revoked(project: Project) -> None:
    (old, first), (_, second) = (token_create(project=project, name="ci", scope="upload") for _ in range(2))
    assert [asks(first), asks(second)] == [200, 200]
    project_token_revoke(token=old)
    assert [asks(first), asks(second)] == [401, 200]


def test_the_last_use_is_noted_each_minute_and_shown(people: People, project: Project) -> None:
    token, text = token_create(project=project, name="ci", scope="upload")
    assert token.last_used_at is None
    asks(text)
    token.refresh_from_db()
    used = token.last_used_at
    assert used is not None
    asks(text)
    token.refresh_from_db()
    assert token.last_used_at == used  # not each time
    Token.objects.update(last_used_at=used - timedelta(hours=1))
    asks(text)
    token.refresh_from_db()
    assert token.last_used_at > used
    page = people.browser("administrator").get(PAGE).content.decode()
    assert token.last_used_at.strftime("%Y-%m-%dT%H:%M") in page


def test_a_new_token_lasts_a_year_and_the_page_says_when_it_ends(people: People) -> None:
    made = people.browser("administrator").post(PAGE, {"name": "ci", "scope": "upload"}).content.decode()
    token = Token.objects.get()
    assert token.expires_at is not None
    assert timedelta(days=364) < token.expires_at - timezone.now() <= timedelta(days=365)
    shown = token.expires_at.strftime("%Y-%m-%dT%H:%M")
    assert made.count(shown) == 2  # with the token's text, and in the list
    assert "soon" not in made


def test_a_token_that_ends_soon_is_told_of_in_time(people: People, project: Project) -> None:
    told = {"soon": 20, "later": 40, "over": -1, "revoked": 20}
    for name, days in told.items():
        made = token_create(project=project, name=name, scope="upload")[0]
        Token.objects.filter(pk=made.pk).update(expires_at=timezone.now() + timedelta(days=days))
    Token.objects.filter(name="revoked").update(revoked_at=timezone.now())
    page = people.browser("administrator").get(PAGE)
    assert [one.name for one in page.context["ending"]] == ["soon"]
    assert "1 token expires soon." in page.content.decode()
    assert "expires soon" not in people.browser("maintainer").get(PAGE).content.decode()


@pytest.mark.parametrize("scope", Token.Scope.values)
def test_no_token_lists_makes_or_revokes_tokens(project: Project, scope: str) -> None:
    token, text = token_create(project=project, name="ci", scope=scope)
    headers = {"Authorization": f"Bearer {text}"}
    revoke = reverse("token_revoke", args=("shop", token.pk))
    for method, address in (("get", PAGE), ("post", PAGE), ("post", revoke), ("get", "/account"), ("post", "/account")):
        answer = getattr(Client(), method)(address, {"name": "x", "scope": "upload", "days": "7"}, headers=headers)
        assert answer.status_code == 302 and "/sign-in" in answer.url, (method, address)
    for path in ("tokens", "members", "audit"):
        assert Client().get(f"/api/v1/projects/shop/{path}", headers=headers).status_code == 404
    assert Token.objects.get() == token and not PersonalToken.objects.exists()
    token.refresh_from_db()
    assert token.revoked_at is None
