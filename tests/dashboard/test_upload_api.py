"""The upload API as CI sees it."""

import copy
import gzip
import io
import json
import tarfile
import threading
import time
import zipfile
from datetime import timedelta
from functools import partial
from urllib.parse import urlencode

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import connection
from django.test import Client
from django.utils import timezone
from drf_spectacular.validation import validate_schema

from dashboard.api.upload import waits
from ingest.models import Project, Report, Token, Upload
from ingest.processing import upload_process
from ingest.services import project_create, token_create, token_revoke
from tests.at_once import at_once
from tests.dashboard.openapi import Schema

XML = b"<testsuite name='s'><testcase classname='c' name='a' time='1'/></testsuite>"
BAD = b"<testsuite name='s'><testcase classname='c' name='a'/><testcase"


class Ci:
    """A CI job with a token."""

    def __init__(self, token: str, slug: str = "shop") -> None:
        self._headers = {"authorization": f"Bearer {token}"}
        self._address = f"/api/v1/projects/{slug}/uploads"
        self._client = Client()

    def send(self, content: bytes = XML, query: str = "", kind: str = "application/xml", **headers: str):
        address = f"{self._address}{query}"
        return self._client.post(address, content, content_type=kind, headers=self._headers | headers)

    def send_form(self, *files: tuple[str, bytes], **fields: object):
        uploads = [SimpleUploadedFile(name, content) for name, content in files]
        return self._client.post(self._address, {"file": uploads, **fields}, headers=self._headers)

    def get(self, path: str = ""):
        return self._client.get(self._address + path, headers=self._headers)

    def post(self, path: str):
        return self._client.post(self._address + path, headers=self._headers)

    def processed(self, response):
        """The upload after a worker was there."""
        upload_process(upload_id=response.json()["id"])
        return self.get(f"/{response.json()['id']}").json()


@pytest.fixture
def ci(upload_token: str) -> Ci:
    return Ci(upload_token)


@pytest.fixture
def other(db: None) -> Project:
    return project_create(slug="other", name="Other")


def code(response) -> tuple[int, str]:
    error = response.json()["error"]
    assert error["sentence"]
    return response.status_code, error["code"]


# -- what is sent ------------------------------------------------------------------------------------------------


def test_a_raw_report_is_accepted_stored_and_listed(ci: Ci) -> None:
    response = ci.send()
    assert response.status_code == 202
    assert response.json()["state"] == "received"
    upload = ci.processed(response)
    assert (upload["state"], upload["files"][0]["passed"]) == ("processed", 1)
    assert [result["id"] for result in ci.get().json()["results"]] == [upload["id"]]


@pytest.mark.parametrize(
    "kind", ["application/xml", "text/xml", "application/octet-stream", "application/x-www-form-urlencoded"]
)
def test_the_content_type_of_a_raw_report_does_not_matter(ci: Ci, kind: str) -> None:
    assert ci.processed(ci.send(kind=kind))["state"] == "processed"


def zipped(*files: tuple[str, bytes]) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files:
            archive.writestr(name, content)
    return stream.getvalue()


def tarred(*files: tuple[str, bytes]) -> bytes:
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w:gz") as archive:
        for name, content in files:
            info = tarfile.TarInfo(name)
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))
    return stream.getvalue()


SECOND = XML.replace(b"'a'", b"'b'")


@pytest.mark.parametrize("pack", [zipped, tarred])
def test_archives_are_known_by_content(ci: Ci, pack) -> None:
    upload = ci.processed(ci.send(pack(("x/one.xml", XML), ("two.xml.gz", gzip.compress(SECOND, mtime=0)))))
    assert [file["path"] for file in upload["files"]] == ["x/one.xml", "two.xml"]
    assert Report.objects.get().tests == 2


def test_gzip_is_known_by_content(ci: Ci) -> None:
    assert ci.processed(ci.send(gzip.compress(XML, mtime=0)))["files"][0]["tests"] == 1


def test_metadata_comes_by_query_form_or_json_part(ci: Ci) -> None:
    by_query = ci.send(query="?commit=abc&branch=main&environment=os=linux,python=3.12&attempt=2")
    assert by_query.json()["metadata"] == {
        "commit": "abc", "branch": "main", "environment": {"os": "linux", "python": "3.12"}, "attempt": 2,
    }  # fmt: skip
    by_form = ci.send_form(("r.xml", XML), commit="def", environment=["os=mac", "arch=arm"], order="executed")
    assert by_form.json()["metadata"]["environment"] == {"os": "mac", "arch": "arm"}
    part = json.dumps({"commit": "fff", "environment": {"os": "bsd"}, "started_at": "2026-01-02T03:04:05Z"})
    by_part = ci.send_form(("r.xml", XML), metadata=part)
    assert by_part.json()["metadata"]["started_at"] == "2026-01-02T03:04:05+00:00"
    file_part = ci.send_form(
        ("r.xml", SECOND), metadata=SimpleUploadedFile("m.json", part.encode(), "application/json")
    )
    assert file_part.json()["metadata"]["commit"] == "fff"


@pytest.mark.parametrize("address", ["http://jenkins/1/", "https://ci:8443/job/a b/1?x=1", "http://[::1]/"])
def test_a_build_url_may_name_any_host(ci: Ci, address: str) -> None:
    assert ci.send(query="?" + urlencode({"build_url": address})).json()["metadata"] == {"build_url": address}


def test_a_start_without_a_zone_is_in_utc(ci: Ci) -> None:
    sent = ci.send(query="?started_at=2026-01-02T03:04:05")
    assert sent.json()["metadata"] == {"started_at": "2026-01-02T03:04:05+00:00"}


def test_many_files_are_one_upload_and_one_report(ci: Ci) -> None:
    files = [(f"TEST-{i}.xml", XML.replace(b"'c'", f"'c{i}'".encode())) for i in range(60)]
    response = ci.send_form(*files, build_id="7")
    assert response.json()["file_count"] == 60
    assert len(ci.processed(response)["files"]) == 60
    assert Report.objects.get().tests == 60


def test_warnings_and_errors_name_file_line_and_column(ci: Ci) -> None:
    upload = ci.processed(
        ci.send_form(("cut.xml", BAD), ("page.xml", b"<!DOCTYPE html><html></html>"), ("ok.xml", XML))
    )
    cut, page, ok = upload["files"]
    assert (cut["partial"], cut["tests"], cut["warnings"][0]["line"]) == (True, 1, 1)
    assert cut["warnings"][0]["column"] > 50
    assert (page["error"]["code"], page["error"]["line"]) == ("html_page", 1)
    assert ok["error"] is None


# -- once --------------------------------------------------------------------------------------------------------


def test_the_same_bytes_again_are_the_same_upload(ci: Ci) -> None:
    first = ci.send(query="?build_id=1")
    ci.processed(first)
    again = ci.send(query="?build_id=1")
    assert (again.status_code, again.json()["id"]) == (200, first.json()["id"])
    assert Upload.objects.count() == 1


def test_an_idempotency_key_is_honoured(ci: Ci) -> None:
    first = ci.send(**{"idempotency-key": "k1"})
    again = ci.send(**{"idempotency-key": "k1"})
    assert again.json()["id"] == first.json()["id"]
    assert code(ci.send(SECOND, **{"idempotency-key": "k1"})) == (409, "idempotency_conflict")


@pytest.mark.django_db(transaction=True)
def test_twenty_at_once_are_one_upload(upload_token: str) -> None:
    def send() -> tuple[int, int]:
        response = Ci(upload_token).send(query="?build_id=9")
        return response.status_code, response.json()["id"]

    answers = at_once(*20 * [send])
    assert len(answers) == 20
    assert len({id_ for _, id_ in answers}) == 1
    assert {status for status, _ in answers} == {202}
    assert Upload.objects.count() == 1


@pytest.mark.django_db(transaction=True)
def test_one_key_at_once_for_two_bodies_is_one_upload(upload_token: str) -> None:
    """Half of them also come without the key, so that it is remembered while others bring it."""

    def send(number: int) -> tuple[bytes, int, int | None]:
        content, key = (XML, SECOND)[number % 2], {"idempotency-key": "k"} if number % 4 < 2 else {}
        response = Ci(upload_token).send(content, **key)
        return content, response.status_code, response.json().get("id")

    answers = at_once(*(partial(send, number) for number in range(20)))
    assert {status for _, status, _ in answers} == {202, 409}
    assert len({content for content, status, _ in answers if status == 409}) == 1
    assert len({id_ for _, status, id_ in answers if status == 202}) == Upload.objects.count() == 2
    assert Upload.objects.filter(idempotency_key="k").count() == 1


def test_a_failed_upload_that_is_sent_again_is_tried_again(ci: Ci) -> None:
    first = ci.send()
    Upload.objects.update(state=Upload.State.FAILED, error={"code": "x", "sentence": "y"})
    assert ci.send().json() | {"error": None} == first.json() | {"error": None, "tries": 0}


def test_an_upload_can_be_processed_again(ci: Ci) -> None:
    upload = ci.processed(ci.send())
    assert ci.post(f"/{upload['id']}/reprocess").status_code == 202
    assert code(ci.post(f"/{upload['id']}/reprocess")) == (409, "not_reprocessable")
    assert ci.processed(ci.get(f"/{upload['id']}"))["state"] == "processed"
    assert Report.objects.count() == 1


# -- waiting -----------------------------------------------------------------------------------------------------


@pytest.mark.django_db(transaction=True)
def test_wait_answers_when_processed(upload_token: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def soon(upload_id: int) -> None:
        def work() -> None:
            upload_process(upload_id=upload_id)
            connection.close()

        threading.Thread(target=work).start()

    monkeypatch.setattr("dashboard.api.upload.uploads.wake_worker", soon)
    good = Ci(upload_token).send(query="?wait=60")
    assert (good.status_code, good.json()["state"], good.json()["files"][0]["tests"]) == (200, "processed", 1)
    bad = Ci(upload_token).send(b"<TestRun/>", query="?wait=60")
    assert (bad.status_code, bad.json()["state"], bad.json()["error"]["code"]) == (422, "rejected", "other_format")


def test_waiting_ends_with_202_where_nobody_works(ci: Ci) -> None:
    assert ci.send(query="?wait=1").status_code == 202


def test_where_no_place_to_wait_is_free_the_answer_comes_at_once(ci: Ci, settings) -> None:
    held = 0
    while waits._places.acquire(blocking=False):
        held += 1
    try:
        started = time.monotonic()
        sent = ci.send(query="?wait=60")
        assert (sent.status_code, sent.json()["state"]) == (202, "received")
        assert ci.get(f"/{sent.json()['id']}?wait=60").status_code == 200
        assert time.monotonic() - started < 50, "it waited"
    finally:
        waits._places.release(held)
    assert held == settings.WEB_THREADS // 2


def test_an_upload_that_is_done_needs_no_place_to_wait(ci: Ci, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(waits, "_places", threading.BoundedSemaphore(0))
    ci.processed(ci.send(b"<TestRun/>"))
    assert ci.send(b"<TestRun/>", query="?wait=60").status_code == 422


# -- no ----------------------------------------------------------------------------------------------------------


def test_without_a_live_token_nothing_is_said(ci: Ci, upload_token: str, project: Project) -> None:
    anonymous = Client().post("/api/v1/projects/shop/uploads", XML, content_type="application/xml")
    assert code(anonymous) == (401, "unauthenticated")
    assert "Bearer" in anonymous.headers["WWW-Authenticate"]
    assert code(Ci("flk_upload_" + "0" * 36).send()) == (401, "unauthenticated")
    token = project.tokens.get()
    Token.objects.update(expires_at=timezone.now() - timedelta(seconds=1))
    assert code(ci.send()) == (401, "unauthenticated")
    Token.objects.update(expires_at=None)
    token_revoke(token=token)
    assert code(ci.send()) == (401, "unauthenticated")


def test_a_read_token_reads_and_does_not_upload(read_token: str, ci: Ci) -> None:
    sent = ci.send().json()
    assert Ci(read_token).get(f"/{sent['id']}").status_code == 200
    assert code(Ci(read_token).send()) == (403, "forbidden")
    assert code(Ci(read_token).post(f"/{sent['id']}/reprocess")) == (403, "forbidden")


def test_another_project_is_answered_like_none(upload_token: str, other: Project, ci: Ci) -> None:
    _, foreign = token_create(project=other, name="x", scope=Token.Scope.UPLOAD)
    sent = ci.send().json()
    there, missing = Ci(foreign, "shop").get(f"/{sent['id']}"), Ci(foreign, "nothing").get("/1")
    assert (there.status_code, there.json()) == (missing.status_code, missing.json())
    assert code(there) == (404, "not_found")
    assert code(Ci(foreign, "other").get(f"/{sent['id']}")) == (404, "not_found")


def test_a_token_in_the_url_is_refused_and_never_stored(ci: Ci, upload_token: str) -> None:
    assert code(ci.send(query=f"?token={upload_token}")) == (400, "token_in_url")
    assert upload_token.encode() not in bytes(Token.objects.get().digest)
    assert upload_token not in Token.objects.get().hint


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("?comit=abc", (422, "unknown_field")),
        ("?attempt=x", (422, "invalid")),
        ("?attempt=0", (422, "invalid")),
        ("?build_url=javascript:alert(1)", (422, "invalid")),
        ("?environment=linux", (422, "invalid")),
        ("?order=random", (422, "invalid")),
        ("?wait=soon", (422, "invalid")),
        ("?branch=%00", (422, "invalid")),
        ("?commit=" + "a" * 65, (422, "invalid")),
    ],
)
def test_wrong_fields_are_named(ci: Ci, query: str, expected: tuple[int, str]) -> None:
    assert code(ci.send(query=query)) == expected


def test_nothing_to_read_is_said_at_once(ci: Ci) -> None:
    assert code(ci.send(b"")) == (422, "empty")
    assert code(ci.send_form()) == (422, "empty")
    assert code(ci.send(kind="image/png")) == (415, "unsupported_media_type")
    assert code(ci.send(b"--x", kind="multipart/form-data; boundary=")) == (400, "bad_multipart")


def test_over_a_limit_is_413_with_its_name_and_value(ci: Ci, settings) -> None:
    from dataclasses import replace

    settings.LIMITS = replace(settings.LIMITS, bytes_in=10)
    response = ci.send()
    assert code(response) == (413, "limit_bytes_in")
    assert "10 (LIMIT_BYTES_IN)" in response.json()["error"]["sentence"]
    assert Upload.objects.count() == 0


def test_too_many_uploads_a_minute_are_429(ci: Ci, settings) -> None:
    settings.UPLOADS_PER_MINUTE = 1
    ci.send()
    response = ci.send(SECOND)
    assert code(response) == (429, "too_many_uploads")
    assert int(response.headers["Retry-After"]) > 0


def test_lists_are_paged_newest_first_and_filtered(ci: Ci) -> None:
    for build in range(3):
        ci.send(query=f"?build_id={build}")
    page = ci.get("?page_size=2").json()
    assert [result["metadata"]["build_id"] for result in page["results"]] == ["2", "1"]
    assert page["next"]
    assert len(ci.get("?state=received").json()["results"]) == 3
    assert code(ci.get("?state=strange")) == (422, "invalid")


def test_the_broker_being_away_loses_nothing(ci: Ci, monkeypatch: pytest.MonkeyPatch) -> None:
    from kombu.exceptions import OperationalError

    def away(*args: object) -> None:
        raise OperationalError("no broker")

    monkeypatch.setattr("dashboard.tasks.process_upload.delay", away)
    assert ci.send().status_code == 202
    assert Upload.objects.get().state == "received"


@pytest.fixture
def schema(db: None) -> dict:
    return copy.deepcopy(Schema().document)  # an example is taken apart below


def examples(content: dict, media_type: str = "application/json") -> list:
    return [example["value"] for example in content[media_type]["examples"].values()]


def test_the_schema_is_valid_and_its_requests_work(ci: Ci, schema: dict) -> None:
    validate_schema(schema)
    sent = schema["paths"]["/api/v1/projects/{slug}/uploads"]["post"]["requestBody"]["content"]
    for example in examples(sent, "application/xml"):
        assert ci.processed(ci.send(example.encode()))["state"] == "processed"
    for example in examples(sent, "multipart/form-data"):
        files = [(name, XML) for name in example.pop("file")]
        assert ci.processed(ci.send_form(*files, **example))["state"] == "processed"
    assert Client().get("/api/docs").status_code == 200


def test_the_answers_in_the_schema_look_like_those_that_come(ci: Ci, schema: dict) -> None:
    answers = schema["paths"]["/api/v1/projects/{slug}/uploads"]["post"]["responses"]
    received = ci.send()
    processed = ci.processed(received)
    assert [one.keys() for one in examples(answers["202"]["content"])] == [received.json().keys()]
    (example,) = examples(answers["200"]["content"])
    assert (example.keys(), example["files"][0].keys()) == (processed.keys(), processed["files"][0].keys())
    for status, refused in (("401", Ci("x").send()), ("404", ci.get("/0"))):
        assert {"error": refused.json()["error"]} in examples(answers[status]["content"])


def test_unknown_addresses_are_404_as_json() -> None:
    assert code(Client().get("/api/v1/nothing")) == (404, "not_found")
