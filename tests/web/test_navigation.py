"""The navigation above a project's pages: where a reader is, what they may open, and that errors keep it."""

import re

import pytest
from django.contrib.auth.models import AnonymousUser, User
from django.test import Client
from django.urls import reverse

from dashboard.people.members import member_add
from dashboard.people.models import Role
from dashboard.web.navigation import SECTIONS, navigation
from dashboard.web.urls import urlpatterns
from ingest.models import Project
from tests.people.signed_in import browser_of
from tests.web.reading import words

_HERE = re.compile(r'<a href="[^"]*" aria-current="(?:page|true)">([^<]*)</a>')


def highlighted(client: Client, name: str) -> list[str]:
    return _HERE.findall(client.get(reverse(name, args=("shop",))).content.decode())


@pytest.mark.parametrize(
    ("name", "place"),
    [
        ("project", ["Overview"]),
        ("runs", ["Runs"]),
        ("near_bounds", ["Insights", "Bounds"]),
        ("policy", ["Settings", "Policy"]),
        ("owners", ["Settings", "Owners"]),
        ("trust", ["Settings", "Trust"]),
        ("project_settings", ["Settings", "General"]),
        ("retention", ["Settings", "Retention"]),
        ("lifecycle", ["Quarantine", "Lifecycle"]),
    ],
)
def test_a_page_shows_its_place(page: Client, name: str, place: list[str]) -> None:
    assert highlighted(page, name) == place


def test_an_invitation_is_made_in_its_place(page: Client, project: Project) -> None:
    made = page.post(reverse("member_invite", args=(project.slug,)), {"role": "viewer"}).content.decode()
    assert "/invitations/" in made and _HERE.findall(made) == ["Settings", "Members"]


def test_every_name_is_an_address_and_has_one_place() -> None:
    pages = [entry for section in SECTIONS for entry in section.pages]
    names = [name for entry in pages for name in entry.names]
    assert {entry.name for entry in pages} | set(names) <= {pattern.name for pattern in urlpatterns}
    assert len(names) == len(set(names))


def test_nobody_is_led_to_what_they_may_not_open(project: Project, db: None) -> None:
    viewer = User.objects.create_user("vi")
    member_add(project=project, user=viewer, role=Role.VIEWER)
    settings = navigation(viewer, project, "setup")[-1]
    assert [link.label for link in settings.links] == ["Setup", "Uploads", "Policy", "Owners", "Members"]
    project.public = True
    assert "Members" not in [link.label for link in navigation(AnonymousUser(), project, "setup")[-1].links]


@pytest.mark.parametrize("address", ["/projects/shop/nothing/here", "/projects/shop/tests/999"])
def test_a_page_that_is_missing_keeps_the_navigation(page: Client, address: str) -> None:
    missing = page.get(address)
    assert missing.status_code == 404
    assert "Overview Fix first Tests Runs Quarantine Insights Settings" in words(missing.content.decode())


def test_a_missing_page_of_no_project_keeps_search_and_account(page: Client) -> None:
    missing = page.get("/nothing/here")
    assert missing.status_code == 404
    assert b'id="search"' in missing.content and reverse("account").encode() in missing.content
    assert b'id="search"' not in Client().get("/nothing/here").content


def unmasked(content: bytes) -> bytes:
    """Without the form's mark, which is another at each request."""
    return re.sub(rb'(?<=name="csrfmiddlewaretoken" value=")[^"]+', b"", content)


def test_a_refusal_keeps_the_navigation_and_a_hidden_project_has_none(project: Project, db: None) -> None:
    person = User.objects.create_user("vi")
    there, nowhere = (browser_of(person).get(f"/projects/{slug}/nothing") for slug in ("shop", "nowhere"))
    assert (there.status_code, unmasked(there.content)) == (404, unmasked(nowhere.content))
    assert b"fb-tabs" not in there.content
    member_add(project=project, user=person, role=Role.VIEWER)
    refused = browser_of(person).get(reverse("trust", args=("shop",)))
    assert refused.status_code == 403
    assert b"fb-tabs" in refused.content
