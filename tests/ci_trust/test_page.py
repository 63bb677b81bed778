"""The page on which a project trusts repositories, and what a run of a fork shows."""

import pytest
from django.contrib.auth.models import User
from django.test import Client

from dashboard.ci_trust.models import TrustedRepository
from dashboard.ci_trust.repositories import fork_mode, fork_mode_set
from dashboard.people.models import AuditEntry, Role
from ingest.models import Project, Run
from tests.ci_trust.conftest import Issuer, Sender, sent
from tests.people.signed_in import browser_of, member

GOOD = {"provider": "github", "repository_id": "4711", "scope": "upload", "refs": "main release/*"}


@pytest.fixture
def browser(project: Project, settings) -> Client:
    plain = {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"}
    settings.STORAGES = {**settings.STORAGES, "staticfiles": plain}
    return browser_of(member(User.objects.create_user("anna"), project, Role.ADMINISTRATOR))


def read(browser: Client, address: str) -> str:
    answer = browser.get(address)
    assert answer.status_code == 200
    return answer.content.decode()


def test_a_repository_is_trusted_paused_and_removed_and_each_is_in_the_audit_log(
    browser: Client, project: Project, issuer: Issuer, ci: Sender
) -> None:
    browser.post("/projects/shop/trust", {**GOOD, "issuer": issuer.url})
    made = TrustedRepository.objects.get(project=project)
    assert (made.refs, made.created_by.username) == (["main", "release/*"], "anna")
    sent(ci.post(issuer.token()))
    page = read(browser, "/projects/shop/trust")
    assert "acme/shop" in page
    assert "release/*" in page
    browser.post(f"/projects/shop/trust/{made.pk}/switch", {"enabled": "no"})
    assert ci.post(issuer.token()).status_code == 401
    browser.post(f"/projects/shop/trust/{made.pk}/remove")
    assert not TrustedRepository.objects.exists()
    actions = [entry.action for entry in AuditEntry.objects.filter(project=project).order_by("id")]
    assert actions == ["trust.given", "trust.switched", "trust.taken"]


@pytest.mark.parametrize(
    ("changes", "words"),
    [({"repository_id": "acme/shop"}, "It is a number"), ({"issuer": "https://evil.example"}, "Select a valid choice")],
)
def test_a_name_or_an_issuer_that_nobody_believes_is_not_taken(
    browser: Client, issuer: Issuer, changes: dict[str, str], words: str
) -> None:
    answer = browser.post("/projects/shop/trust", {**GOOD, "issuer": issuer.url, **changes})
    assert words in answer.content.decode()
    assert not TrustedRepository.objects.exists()


def test_a_repository_is_trusted_once(browser: Client, issuer: Issuer) -> None:
    for _ in range(2):
        answer = browser.post("/projects/shop/trust", {**GOOD, "issuer": issuer.url})
    assert "trusts this repository already" in answer.content.decode()
    assert TrustedRepository.objects.count() == 1


def test_forks_are_switched_and_a_word_that_is_none_changes_nothing(browser: Client, project: Project) -> None:
    for mode, then in (("apart", "apart"), ("sure", "apart"), ("off", "off")):
        browser.post("/projects/shop/trust/forks", {"mode": mode})
        assert fork_mode(project.pk) == then


def test_the_setup_page_leads_there(browser: Client) -> None:
    assert "/projects/shop/trust" in read(browser, "/projects/shop/setup")


def test_a_run_of_a_fork_says_so_until_a_maintainer_admits_it(
    browser: Client, project: Project, ci: Sender, upload_token: str
) -> None:
    fork_mode_set(project=project, mode="apart")
    run = sent(ci.post(upload_token, fork="true", pull_request=31)).run
    assert "from a fork, not counted" in read(browser, "/projects/shop/runs")
    address = f"/projects/shop/runs/{run.pk}"
    assert "from a fork, not counted" in read(browser, address)
    viewer = browser_of(member(User.objects.create_user("vera"), project, Role.VIEWER))
    assert "Admit this run" not in read(viewer, address)
    assert viewer.post(f"{address}/admit").status_code == 403
    assert Run.objects.get(pk=run.pk).untrusted
    browser.post(f"{address}/admit")
    assert "from a fork" not in read(browser, address)
    assert AuditEntry.objects.get(action="run.admitted").actor_name == "anna"
