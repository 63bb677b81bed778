"""A token tells nothing of a project that is not its own, whatever its scope is."""

import pytest
from django.test import Client

from ingest.models import Project, Token
from ingest.services import project_create, token_create

ASKED = [
    ("POST", "uploads"),
    ("GET", "uploads/1"),
    ("POST", "gate"),
    ("GET", "quarantines"),
    ("POST", "quarantines"),
    ("PUT", "policy"),
    ("POST", "analyses/refresh"),
]


@pytest.mark.parametrize("scope", list(Token.Scope))
@pytest.mark.parametrize(("method", "path"), ASKED, ids=[f"{method} {path}" for method, path in ASKED])
def test_a_foreign_project_is_answered_as_one_that_does_not_exist(
    project: Project, scope: Token.Scope, method: str, path: str
) -> None:
    token = token_create(project=project_create(slug="mine", name="Mine"), name="x", scope=scope)[1]

    def ask(slug: str):
        client = Client(headers={"Authorization": f"Bearer {token}"})
        return client.generic(method, f"/api/v1/projects/{slug}/{path}", "{}", "application/json")

    foreign, missing = ask(project.slug), ask("nothing-there")
    assert (foreign.status_code, missing.status_code) == (404, 404)
    assert foreign.content == missing.content


def test_a_wrong_scope_is_told_in_the_tokens_own_project(project: Project, read_token: str) -> None:
    client = Client(headers={"Authorization": f"Bearer {read_token}"})
    answer = client.post("/api/v1/projects/shop/uploads", b"<testsuite/>", "application/xml")
    assert (answer.status_code, answer.json()["error"]["code"]) == (403, "forbidden")
