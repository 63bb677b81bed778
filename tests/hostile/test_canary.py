"""A token that is looked for everywhere after it was used in every wrong way: logs, database, pages, answers, errors."""

import logging
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client

from dashboard.ops.logs import JsonFormatter, LineFormatter
from ingest.models import Project, Upload
from tests.database_text import whole_database
from tests.hostile.archives import DOCUMENT
from tests.people.signed_in import browser_of

API = "/api/v1/projects/shop/"


def used_in_every_way(token: str) -> list[Any]:
    """In the header as it should be, and wherever it should not be."""
    client = Client(headers={"Authorization": f"Bearer {token}"}, raise_request_exception=False)
    anonymous = Client(raise_request_exception=False)
    xml = {"content_type": "application/xml"}
    return [
        client.post(f"{API}uploads?build_id=1", DOCUMENT, **xml),
        client.get(f"{API}uploads"),
        client.get(f"{API}tests"),
        client.post(f"{API}uploads?token={token}", DOCUMENT, **xml),
        client.post(f"{API}uploads?branch={token}&build_id=2", DOCUMENT, **xml),
        client.post(f"{API}gate?exit_code={token}", DOCUMENT, **xml),
        client.post(f"{API}uploads", {"metadata": f'{{"{token}": 1}}'}),
        client.get(f"/api/v1/projects/{token}/uploads"),
        client.get(f"/projects/{token}"),
        anonymous.get(f"/projects/shop?token={token}"),
        anonymous.get("/projects/shop", headers={"Authorization": f"Bearer {token}", "Referer": f"http://x/?{token}"}),
        anonymous.post("/sign-in", {"username": "root", "password": token}),
        anonymous.get(f"/api/schema?x={token}"),
    ]


def test_a_token_is_nowhere_but_where_its_sender_put_it(
    project: Project, upload_token: str, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("dashboard.api.upload.uploads.wake_worker", lambda upload_id: None)
    caplog.set_level(logging.DEBUG)
    canary = upload_token[12:]
    answers = used_in_every_way(upload_token)
    assert answers[0].status_code == 202 and Upload.objects.count() == 1
    assert all(answer.status_code < 500 for answer in answers)
    browser = browser_of(User.objects.create_superuser("root"))
    pages = [browser.get(f"/projects/shop/{page}") for page in ("", "settings", "uploads", "setup", "members", "audit")]
    pages += [browser.get("/audit"), browser.get("/account")]
    shown = "".join(one.content.decode() for one in [*answers, *pages] if not one.streaming)
    logged = "\n".join(form.format(record) for form in (LineFormatter(), JsonFormatter()) for record in caplog.records)
    for place, text in {"logs": logged, "database": whole_database(), "pages": shown}.items():
        assert canary not in text, place
