"""What every answer says to browsers, and what a deployment behind TLS adds."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from django.test import Client

from ingest.models import Project
from tests.conftest import ROOT
from tests.people.conftest import People


def test_pages_say_what_browsers_may_do_with_them(people: People, project: Project) -> None:
    headers = people.browser("viewer").get("/projects/shop/").headers
    policy = headers["Content-Security-Policy"]
    scripts = next(part for part in policy.split("; ") if part.startswith("script-src"))
    assert scripts == "script-src 'self'"
    assert "frame-ancestors 'none'" in policy and "object-src 'none'" in policy and "base-uri 'none'" in policy
    assert (headers["X-Frame-Options"], headers["X-Content-Type-Options"]) == ("DENY", "nosniff")
    assert (headers["Referrer-Policy"], headers["Cross-Origin-Opener-Policy"]) == ("same-origin", "same-origin")
    assert headers["Cross-Origin-Resource-Policy"] == "same-origin"
    assert "camera=()" in headers["Permissions-Policy"]
    assert headers["Cache-Control"] == "private, no-store"
    assert "Strict-Transport-Security" not in headers


def test_the_session_cookie_is_out_of_reach_of_scripts_and_other_sites(people: People) -> None:
    client = Client()
    client.post("/sign-in", {"username": "viewer", "password": "a-long-password"})
    cookie = client.cookies["sessionid"]
    assert (cookie["httponly"], cookie["samesite"], cookie["path"]) == (True, "Lax", "/")


def test_a_name_that_is_not_ours_is_refused(db: None) -> None:
    assert Client().get("/sign-in", headers={"host": "evil.example"}).status_code == 400


def test_a_forged_form_is_refused_with_a_sentence(people: People) -> None:
    client = Client(enforce_csrf_checks=True)
    refused = client.post("/sign-in", {"username": "viewer", "password": "a-long-password"})
    assert refused.status_code == 403
    assert "came from another site" in refused.content.decode()


_ASK = """
import json, django
django.setup()
from django.conf import settings
from django.core.management import call_command
from django.test import Client
call_command("check", deploy=True, fail_level="WARNING")
ask = lambda **extra: Client().get("/client/flakeboard.pyz", headers={"host": "flakeboard.example"}, **extra)
plain, behind = ask(), ask(HTTP_X_FORWARDED_PROTO="https")
names = ("SESSION_COOKIE_NAME", "CSRF_COOKIE_NAME", "SESSION_COOKIE_SECURE", "CSRF_COOKIE_SECURE")
print(json.dumps({
    "settings": [getattr(settings, name) for name in names],
    "plain": [plain.status_code, plain.headers.get("Location")],
    "hsts": behind.headers.get("Strict-Transport-Security"),
}))
"""


@pytest.fixture(scope="module")
def behind_tls(tmp_path_factory: pytest.TempPathFactory) -> dict:
    """A process of its own: what is behind TLS is decided by the environment, at the start."""
    home: Path = tmp_path_factory.mktemp("home")
    environment = {
        **os.environ,
        "DJANGO_SETTINGS_MODULE": "dashboard.settings",
        "FLAKEBOARD_HOME": str(home),
        "PUBLIC_URL": "https://flakeboard.example",
        "ALLOWED_HOSTS": "flakeboard.example",
    }
    done = subprocess.run(
        [sys.executable, "-c", _ASK], cwd=ROOT, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.strip().splitlines()[-1])


def test_djangos_own_check_of_a_deployment_is_clean_and_cookies_are_bound_to_the_host(behind_tls: dict) -> None:
    assert behind_tls["settings"] == ["__Host-sessionid", "__Host-csrftoken", True, True]


def test_behind_tls_browsers_are_told_to_stay_there(behind_tls: dict) -> None:
    assert behind_tls["plain"] == [301, "https://flakeboard.example/client/flakeboard.pyz"]
    assert behind_tls["hsts"] == "max-age=31536000"
