"""No space where a body is received, and none where it is stored: told as such, nothing half kept, and it passes."""

import tempfile
from collections.abc import Iterator
from contextlib import ExitStack
from random import Random
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import connection
from django.test import Client

from ingest.models import Upload, UploadChunk
from tests.api_client import code

URL = "/api/v1/projects/shop/uploads"
GATE = "/api/v1/projects/shop/gate?exit_code=1&wait=0&build_id=1"
LARGE = (
    b"<testsuite name='%b'><testcase name='a'><failure>no</failure></testcase></testsuite>"
    % Random(1).randbytes(5_000_000).hex().encode()
)
"""More than is received in memory, also once it is compressed."""

_FULL = """
    CREATE FUNCTION full_disk() RETURNS trigger LANGUAGE plpgsql AS
        $$ BEGIN RAISE EXCEPTION 'could not extend file: No space left on device' USING ERRCODE = '53100'; END $$;
    CREATE TRIGGER full_disk BEFORE INSERT ON ingest_uploadchunk EXECUTE FUNCTION full_disk();
"""
"""PostgreSQL says of a full disk exactly this, with this code; only the disk is not really full."""


@pytest.fixture
def api(upload_token: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[Client]:
    monkeypatch.setattr("dashboard.api.upload.uploads.wake_worker", lambda upload_id: None)
    client = Client(headers={"Authorization": f"Bearer {upload_token}"}, raise_request_exception=False)
    yield client
    assert client.post(URL, LARGE, content_type="application/xml").status_code == 202, "it is not as it was before"


def raw(client: Client) -> Any:
    return client.post(URL, LARGE, content_type="application/xml")


def form(client: Client) -> Any:
    return client.post(URL, {"file": SimpleUploadedFile("a.xml", LARGE)})


@pytest.mark.parametrize("send", [raw, form])
def test_a_full_disk_where_bodies_are_received_is_507(send: Any, api: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    """The kernel itself refuses each write with ENOSPC: /dev/full stands for a file on a full disk."""

    opened = ExitStack()

    def on_a_full_disk(*args: Any, **options: Any) -> Any:
        return opened.enter_context(open("/dev/full", "w+b", buffering=0))

    with monkeypatch.context() as patch:
        patch.setattr(tempfile, "TemporaryFile", on_a_full_disk)
        patch.setattr("django.core.files.uploadedfile.tempfile.NamedTemporaryFile", on_a_full_disk)
        response = send(api)
    opened.close()
    assert code(response) == (507, "no_space")
    assert response["Retry-After"]
    assert not Upload.objects.exists()


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("address", [URL, GATE])
def test_a_full_disk_of_the_database_is_503_and_leaves_no_half_row(address: str, api: Client, worker: None) -> None:
    with connection.cursor() as cursor:
        cursor.execute(_FULL)
    response = api.post(address, LARGE, content_type="application/xml")
    with connection.cursor() as cursor:
        cursor.execute("DROP FUNCTION full_disk CASCADE")
    assert code(response) == (503, "unavailable")
    assert response["Retry-After"]
    assert not Upload.objects.exists() and not UploadChunk.objects.exists()
    assert "passed" not in response.json()
    held = api.post(GATE, LARGE, content_type="application/xml").json()
    assert (held["decided"], held["passed"]) == (True, False), (
        "with room again, the gate judges the failure that was sent"
    )
