"""The commands that people type."""

import json
from io import StringIO
from pathlib import Path

import pytest
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command
from django.test import Client
from django.urls import resolve, reverse

from dashboard.ops import start_message
from dashboard.ops.paths import ADDRESS_FILE
from ingest.models import Project, Report, Token
from ingest.tokens import looks_like_token
from tests.conftest import PRODUCERS

FIELDS = {
    *("path", "kind", "producer", "suites", "tests", "passed", "failed", "errored", "skipped", "attempts"),
    *("order_reliable", "partial", "warnings", "error"),
}


def said(*arguments: str, **options: object) -> str:
    out = StringIO()
    call_command(*arguments, stdout=out, stderr=StringIO(), **options)
    return out.getvalue()


def test_inspect_prints_an_object_a_line_and_stores_nothing(db: None, tmp_path: Path) -> None:
    (tmp_path / "other.xml").write_text("<TestRun/>")
    (tmp_path / "cut.xml").write_text("<testsuite><testcase name='a'/><testcase")
    files = [PRODUCERS / "pytest-xunit2.xml", tmp_path / "other.xml", tmp_path / "cut.xml"]
    read, other, cut = map(json.loads, said("inspect", *map(str, files), json=True).splitlines())
    assert read.keys() >= FIELDS
    assert (read["producer"], read["kind"], read["order_reliable"]) == ("pytest", "junit", True)
    assert other["error"]["code"] == "other_format"
    assert (cut["partial"], cut["tests"], cut["warnings"][0]["line"]) == (True, 1, 1)
    assert Report.objects.count() == 0


def test_inspect_says_the_same_for_people(tmp_path: Path) -> None:
    (tmp_path / "page.xml").write_text("<html></html>")
    text = said("inspect", str(PRODUCERS / "surefire-rerun-flaky.xml"), str(tmp_path))
    assert "surefire: 7 tests in 1 suites: 3 passed, 1 failed, 2 errored, 1 skipped" in text
    assert "17 attempts" in text
    assert "refused (html_page): This is an HTML page" in text
    with pytest.raises(CommandError, match="neither a file nor a folder"):
        said("inspect", str(tmp_path / "nothing"))


def test_commands_print_the_address_that_the_server_of_their_home_has(
    monkeypatch: pytest.MonkeyPatch, settings, tmp_path: Path
) -> None:  # type: ignore[no-untyped-def]
    settings.HOME, settings.PUBLIC_URL = tmp_path, "http://localhost:8000"
    monkeypatch.delenv("PORT", raising=False)
    monkeypatch.delenv("PUBLIC_URL", raising=False)
    assert start_message.public_address() == "http://localhost:8000"
    (tmp_path / ADDRESS_FILE).write_text("http://localhost:8123")
    assert '"http://localhost:8123/api/v1/projects/shop/uploads' in start_message.curl_line("shop", "x")
    monkeypatch.setenv("PORT", "8000")
    assert start_message.public_address() == "http://localhost:8000"


@pytest.mark.django_db
def test_addresses_that_are_written_out_are_those_of_the_pages() -> None:
    assert f"{reverse('api-uploads', args=('shop',))}?wait=30" in start_message.curl_line("shop", "x")
    address = start_message.sign_in_address(User.objects.create_user("pat"))
    asked = resolve(address.removeprefix(start_message.public_address()))
    assert asked.url_name == "one_time_sign_in"
    assert address.endswith(reverse("one_time_sign_in", kwargs=asked.kwargs))


def test_a_token_is_printed_once_and_works(project: Project) -> None:
    text = said("token", "shop", scope="read").strip()
    assert looks_like_token(text)
    assert Token.objects.get().scope == "read"
    with pytest.raises(CommandError, match="no project 'nothing'"):
        said("token", "nothing")
    said("token", "another", create=True)
    assert Project.objects.filter(slug="another").exists()


def test_a_sign_in_link_works_once(db: None, django_user_model) -> None:
    django_user_model.objects.create_superuser("admin", password="a-password-of-length")
    path = said("sign_in_link").strip().partition("localhost:8000")[2]
    assert Client().post(path).status_code == 302
    assert Client().post(path).status_code == 403
    with pytest.raises(CommandError, match="no active user"):
        said("sign_in_link", "nobody")
