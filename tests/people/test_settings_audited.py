"""Every change of what a project is set to is written down, by page and by API; and what calls others is bounded."""

from dataclasses import asdict
from typing import Any

import pytest
from django.urls import reverse
from django.utils import timezone

from dashboard.ci_trust.models import TrustedRepository
from dashboard.notify.models import Channel
from dashboard.notify.transport import Outcome
from dashboard.people.models import AuditEntry, Invitation, Membership
from dashboard.quarantine.policy.settings import DEFAULTS
from dashboard.retention.ages import Ages
from dashboard.web.quarantine.policy_form import initial_of
from ingest.models import Project, Test, Token
from ingest.services import token_create
from tests.access.walking import addresses, table
from tests.access.world import WHO
from tests.api_client import Program, code
from tests.people.conftest import People

CHANNEL = {"name": "Team", "kind": "email", "pace": "at_once", "enabled": "on", "owner": "", "secret": ""}
TRUST = {"provider": "github", "issuer": "https://token.actions.githubusercontent.com", "scope": "upload"}
POLICY = {name: value for name, value in initial_of(DEFAULTS).items() if value is not False and value is not None}
BY_PAGE: tuple[tuple[str, dict[str, Any], str], ...] = (
    ("channel_create", {**CHANNEL, "address": "team@example.com"}, "channels.create"),
    ("channel", {**CHANNEL, "name": "Renamed"}, "channels.update"),
    ("channel_delete", {}, "channels.delete"),
    ("mail_owners", {"mail_owners": "on"}, "notifications.mail_owners"),
    ("tracker_save", {"kind": "link", "template": "https://tracker.example/?{title}"}, "tracker.set"),
    ("code_host_save", {"kind": "github", "repository": "corp/shop", "secret": "canary"}, "code_host.set"),
    ("code_host_delete", {}, "code_host.removed"),
    ("owners", {"syntax": "github", "text": "* @anna", "patterns": "suite a* bob"}, "owners.set"),
    ("test_owner", {"owner": "carol"}, "owner.set"),
    ("policy", {**POLICY, "deed": "save", "version": 0, "days": 9}, "policy.set"),
    ("retention", {**asdict(Ages()), "uploads": 7, "redact": "on"}, "retention.set"),
    ("project_about", {"name": "Shop", "default_branch": "trunk"}, "project.changed"),
    ("project_repository", {"repository_url": "https://github.com/corp/shop"}, "project.changed"),
    ("project_prices", {"failure_price": "12.5", "minute_price": "0", "currency": "EUR"}, "project.changed"),
    ("project_experiments", {"experiment_commits": "99", "experiment_days": "9"}, "project.changed"),
    ("project_predictions", {"least_right": "0.7"}, "project.changed"),
    ("project_visibility", {"public": "yes"}, "project.changed"),
    ("setup", {"name": "new", "scope": "upload"}, "token.made"),
    ("token_revoke", {}, "token.revoked"),
    ("trust", {**TRUST, "repository_id": "7"}, "trust.given"),
    ("trust_switch", {"enabled": "no"}, "trust.switched"),
    ("trust_remove", {}, "trust.taken"),
    ("trust_forks", {"mode": "apart"}, "forks.set"),
    ("member_invite", {"role": "viewer"}, "invitation.made"),
    ("invitation_revoke", {}, "invitation.revoked"),
    ("member_change", {"role": "maintainer"}, "member.changed"),
    ("member_remove", {}, "member.removed"),
    ("project_delete", {"slug": "shop"}, "project.deletion_asked"),
)
"""In this order: each deed finds what those before it made."""
NO_SETTING = {"notifications", "channel_trial", "demo_delete"}
"""For administrators alone, and nothing is set: a page, a message that is sent, simulated data."""


def of_administrators_alone() -> set[str]:
    """What the table of doors opens for administrators and for nobody below them."""
    viewer, maintainer, administrator = (WHO.index(who) for who in ("viewer", "maintainer", "administrator"))
    names = {address.route: address.name for address in addresses()}
    return {
        names[route]
        for (method, route), cells in table().items()
        if method == "POST" and route.startswith("projects/<slug:slug>/")
        if (cells[viewer], cells[maintainer], cells[administrator]) == ("403", "403", "yes")
    }


def _args(people: People) -> dict[str, Any]:
    """What is there to do something to, by the name of its part of an address."""
    newest: dict[str, Any] = {
        "channel": Channel.objects.last(),
        "token": Token.objects.last(),
        "trust": TrustedRepository.objects.last(),
        "invitation": Invitation.objects.first(),
        "member": Membership.objects.filter(user=people.viewer).first(),
    }
    return {name: row.pk for name, row in newest.items() if row is not None}


def _address(name: str, people: People) -> str:
    part = {"test_owner": "number", "trust": "", "setup": ""}.get(name, name.partition("_")[0])
    known = {**_args(people), "number": 0}
    alone = name in ("channel_create", "trust_forks", "member_invite")
    return reverse(name, args=("shop",) if alone or part not in known else ("shop", known[part]))


@pytest.fixture
def case(project: Project) -> Test:
    return Test.objects.create(project=project, number=0, digest=b"0", name="test_a", first_seen=timezone.now())


def test_the_walk_leaves_out_nothing_that_administrators_alone_may_do() -> None:
    assert of_administrators_alone() - NO_SETTING == {name for name, _, _ in BY_PAGE} - {"policy"}


def test_every_change_by_a_page_is_written_down_with_who_made_it(people: People, case: Test) -> None:
    browser = people.browser("administrator")
    for name, form, action in BY_PAGE:
        before = AuditEntry.objects.count()
        answer = browser.post(_address(name, people), form)
        assert answer.status_code in (200, 302), (name, answer.content.decode())
        written = list(AuditEntry.objects.order_by("pk")[before:])
        assert action in [one.action for one in written], (name, [one.action for one in written])
        assert {(one.actor_name, one.project_slug) for one in written} == {("administrator", "shop")}, name


@pytest.mark.parametrize(
    ("method", "path", "data", "action"),
    [
        ("put", "policy", {"version": 0, "settings": {"mode": "propose"}}, "policy.set"),
        ("put", "owners", {"code_owners": "* @anna", "syntax": "github", "patterns": []}, "owners.set"),
        ("put", "tests/0/owner", {"owner": "carol"}, "owner.set"),
        ("post", "channels", {"name": "Team", "kind": "email", "address": "team@example.com"}, "channels.create"),
    ],
)
def test_every_change_by_the_api_is_written_down_with_its_token(
    project: Project, case: Test, method: str, path: str, data: dict[str, Any], action: str
) -> None:
    program = Program(token_create(project=project, name="robot", scope="quarantine")[1])
    answer = program.put(path, data) if method == "put" else program.post(path, **data)
    assert answer.status_code in (200, 201), answer.content
    entry = AuditEntry.objects.get()
    assert (entry.action, entry.actor_kind, entry.actor_name) == (action, "token", "robot")


def test_what_stays_as_it_is_is_not_written_down(people: People, case: Test) -> None:
    browser = people.browser("administrator")
    for name in ("owners", "test_owner", "retention"):
        form = next(form for known, form, _ in BY_PAGE if known == name)
        for _ in range(2):
            browser.post(_address(name, people), form)
    assert sorted(AuditEntry.objects.values_list("action", flat=True)) == ["owner.set", "owners.set", "retention.set"]


@pytest.mark.parametrize(
    "wrong", [{"failure_price": "-1"}, {"minute_price": "nan"}, {"currency": ""}, {"failure_price": "1e9"}]
)
def test_a_price_that_is_none_is_refused_and_said(people: People, wrong: dict[str, Any]) -> None:
    form = {"failure_price": "12", "minute_price": "0.1", "currency": "EUR", **wrong}
    answer = people.browser("administrator").post(reverse("project_prices", args=("shop",)), form)
    assert answer.status_code == 422
    assert Project.objects.get(slug="shop").currency == "USD"
    assert not AuditEntry.objects.exists()


# -- what calls others, or computes for long ---------------------------------------------------------------------


def test_test_messages_are_so_many_a_minute(people: People, project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dashboard.notify.channels.send_to_channel", lambda *told: Outcome(ok=True))
    people.browser("administrator").post(reverse("channel_create", args=("shop",)), {**CHANNEL, "address": "a@b.org"})
    program = Program(token_create(project=project, name="robot", scope="quarantine")[1])
    path = f"channels/{Channel.objects.get().pk}/test"
    assert [program.post(path).status_code for _ in range(11)] == [200] * 10 + [429]
    refused = people.browser("administrator").post(_address("channel_trial", people))
    assert (refused.status_code, int(refused.headers["Retry-After"]) > 0) == (429, True)
    assert "10 test messages within a minute" in refused.content.decode()


def test_invitations_are_so_many_an_hour(people: People) -> None:
    browser, address = people.browser("administrator"), reverse("member_invite", args=("shop",))
    assert {browser.post(address, {"role": "viewer"}).status_code for _ in range(60)} == {200}
    refused = browser.post(address, {"role": "viewer"})
    assert refused.status_code == 429 and "Try again in" in refused.content.decode()
    assert Invitation.objects.count() == 60


def test_rehearsals_of_a_policy_are_so_many_a_minute_by_page_and_api_together(people: People, project: Project) -> None:
    reader = Program(token_create(project=project, name="reader", scope="read")[1])
    assert code(reader.post("policy/dry-run", days=0)) == (403, "forbidden")
    program = Program(token_create(project=project, name="robot", scope="quarantine")[1])
    assert [program.post("policy/dry-run", days=7).status_code for _ in range(5)] == [200] * 5
    browser, page = people.browser("maintainer"), reverse("policy", args=("shop",))
    assert browser.get(f"{page}?past=1").status_code == 200
    assert code(program.post("policy/dry-run", days=7)) == (429, "too_often")
    assert browser.get(f"{page}?past=1").status_code == 429
    assert program.post("policy/dry-run", days=0).status_code == 200  # that of today costs little
    assert browser.get(page).status_code == 200
