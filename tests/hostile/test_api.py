"""Requests that attack the upload API: an answer is 4xx in the one form of errors, or 2xx, and never 500."""

import base64
import gzip
import io
from collections.abc import Iterator
from hashlib import sha256
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import IntegrityError
from django.test import Client
from gunicorn.http.errors import InvalidChunkSize

from ingest.metadata import RunMetadata
from ingest.models import Project, Token, Upload, UploadChunk
from ingest.services import Body, IdempotencyConflict, _remember_key, project_create, token_create, upload_receive
from tests.hostile.archives import DOCUMENT

URL = "/api/v1/projects/shop/uploads"


@pytest.fixture(autouse=True)
def no_worker(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dashboard.api.upload.uploads.wake_worker", lambda upload_id: None)


@pytest.fixture
def api(upload_token: str) -> Iterator[Client]:
    client = Client(headers={"Authorization": f"Bearer {upload_token}"}, raise_request_exception=False)
    yield client
    canary = client.post(URL, DOCUMENT, content_type="application/xml")
    assert canary.status_code in (200, 202)


def code(response: Any, status: int) -> str:
    """The code of an error that has the one form."""
    assert response.status_code == status, response.content[:500]
    error = response.json()["error"]
    assert error["sentence"]
    return str(error["code"])


def send_form(client: Client, metadata: str | bytes) -> Any:
    """A form with a report and a metadata field."""
    if isinstance(metadata, bytes):
        part: Any = SimpleUploadedFile("metadata.json", metadata)
    else:
        part = metadata
    return client.post(URL, {"file": SimpleUploadedFile("a.xml", DOCUMENT), "metadata": part})


def call(token: str, body: io.BytesIO, **environ: str) -> Any:
    """A POST whose body and headers are not what a well-behaved client makes of them."""
    client = Client(raise_request_exception=False)
    base = {"REQUEST_METHOD": "POST", "PATH_INFO": URL, "HTTP_AUTHORIZATION": f"Bearer {token}", "wsgi.input": body}
    return client.request(**base, **environ)


def body_of(content: bytes) -> Body:
    return Body(io.BytesIO(content), sha256(content).digest(), len(content), 1)


# -- tokens ------------------------------------------------------------------------------------------------------


def test_a_token_in_the_query_is_refused(api: Client, upload_token: str) -> None:
    assert code(api.get(URL, {"token": upload_token}), 400) == "token_in_url"
    assert code(Client().get(URL, {"x": upload_token}), 400) == "token_in_url"


@pytest.mark.parametrize("query", ["{}", "{}=1", "token=Bearer+{}", "token={}%20", "x={}y", "%66lk_aa_{}"])
def test_a_token_anywhere_in_the_query_is_refused(query: str, api: Client, upload_token: str) -> None:
    response = api.get(f"{URL}?{query.format(upload_token)}")
    assert code(response, 400) == "token_in_url"
    assert upload_token[11:30] not in response.content.decode()


def test_no_error_repeats_a_token(api: Client, upload_token: str) -> None:
    mistyped = upload_token[:-1] + ("a" if upload_token[-1] != "a" else "b")
    answers = [
        api.post(f"{URL}?{mistyped}=1", DOCUMENT, content_type="application/xml"),
        api.post(f"{URL}?order={mistyped}", DOCUMENT, content_type="application/xml"),
        api.generic("POST", URL, DOCUMENT, f"image/{upload_token}"),
        api.generic("POST", URL, b"x", f"multipart/form-data; boundary={upload_token * 5}"),
        send_form(api, f'{{"{upload_token}": 1}}'),
        send_form(api, f'{{"order": "{upload_token}"}}'),
    ]
    for response in answers:
        assert 400 <= response.status_code < 500
        assert upload_token[11:30].lower() not in response.content.decode().lower()


@pytest.mark.parametrize(
    "header", ["", "Bearer", "Bearer x", "Basic {}", "{}", "Bearer {} x", "Bearer {}a", "Bearer\t{}", "Bearer \xff"]
)
def test_forged_tokens_are_refused(header: str, upload_token: str) -> None:
    client = Client(headers={"Authorization": header.format(upload_token)})
    assert code(client.get(URL), 401) == "unauthenticated"


def test_another_project_is_as_absent_as_none(api: Client, project: Project) -> None:
    other = project_create(slug="other", name="Other")
    foreign = token_create(project=other, name="ci", scope=Token.Scope.UPLOAD)[1]
    api.post(URL, DOCUMENT, content_type="application/xml")
    upload = Upload.objects.get()
    stranger = Client(headers={"Authorization": f"Bearer {foreign}"})
    missing = stranger.get("/api/v1/projects/none/uploads").content
    for path in (URL, f"{URL}/{upload.pk}", f"/api/v1/projects/other/uploads/{upload.pk}"):
        response = stranger.get(path)
        assert (response.status_code, response.content) == (404, missing)
    assert stranger.post(f"/api/v1/projects/other/uploads/{upload.pk}/reprocess").content == missing
    assert stranger.post(URL, DOCUMENT, content_type="application/xml").content == missing


def test_a_reading_token_cannot_write(api: Client, read_token: str) -> None:
    reader = Client(headers={"Authorization": f"Bearer {read_token}"})
    assert code(reader.post(URL, DOCUMENT, content_type="application/xml"), 403) == "forbidden"
    assert code(reader.post(f"{URL}/1/reprocess"), 403) == "forbidden"


# -- addresses and queries ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "path",
    ["/api/v1/projects/%00/uploads", "/api/v1/projects/shop%00/uploads", "/api/v1/projects/..%2f/uploads", "/api/"]
    + [f"/api/v1/projects/{'a' * 3_000}/uploads", "/api/%ff%fe", "/api/v1/projects/sh%C3%B6p/uploads"]
    + [
        f"{URL}/{id}" for id in ("-1", "0", "9223372036854775808", "9" * 30, "9" * 5_000, "1%00", "1e3", "%D9%A1", "1/")
    ],
)
def test_odd_addresses_are_not_found(path: str, api: Client) -> None:
    assert code(api.get(path), 404) == "not_found"


@pytest.mark.parametrize("query", ["state=%00", "state=x"])
def test_odd_states_are_refused(query: str, api: Client) -> None:
    assert code(api.get(f"{URL}?{query}"), 422) == "invalid"


@pytest.mark.parametrize("wait", ["abc", "-1", "1e9", "%00", "%D9%A1", "9" * 30])
def test_odd_waits_are_refused(wait: str, api: Client) -> None:
    assert code(api.post(f"{URL}?wait={wait}", DOCUMENT, content_type="application/xml"), 422) == "invalid"


@pytest.mark.parametrize("query", ["page_size=-1", "page_size=x", f"page_size={'9' * 50}", "page_size=%00"])
def test_odd_page_sizes_are_refused(query: str, api: Client) -> None:
    assert code(api.get(f"{URL}?{query}"), 422) == "invalid"


@pytest.mark.parametrize("cursor", ["abc", "%ff", "o=x", "o=-1", "r=x"])
def test_odd_cursors_are_not_found(cursor: str, api: Client) -> None:
    encoded = cursor if "=" not in cursor else base64.b64encode(cursor.encode()).decode()
    assert code(api.get(f"{URL}?cursor={encoded}"), 404) == "not_found"


@pytest.mark.parametrize("position", ["abc", "%00", "nan", "1.5", "", "-1", "9223372036854775808", "9" * 5_000])
def test_a_cursor_whose_position_is_no_number_is_not_found(position: str, api: Client) -> None:
    encoded = base64.b64encode(f"p={position}".encode()).decode()
    assert code(api.get(f"{URL}?cursor={encoded}"), 404) == "not_found"


@pytest.mark.parametrize("method", ["put", "patch", "delete", "trace"])
def test_other_methods_are_refused(method: str, api: Client) -> None:
    for path in (URL, f"{URL}/1", f"{URL}/1/reprocess"):
        assert code(getattr(api, method)(path), 405) == "method_not_allowed"


def test_a_strange_host_is_refused(api: Client) -> None:
    assert api.get(URL, headers={"Host": "evil.example"}).status_code == 400


def test_a_strange_host_is_refused_in_the_form_of_the_api(api: Client) -> None:
    assert code(api.get(URL, headers={"Host": "evil.example"}), 400) == "unknown_host"


# -- metadata ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "query",
    [
        "commit=%00",
        f"commit={'a' * 65}",
        "attempt=abc",
        "attempt=-1",
        f"attempt={'9' * 2_000}",
        "build_url=javascript:1",
    ]
    + [
        "build_url=http://%00",
        "environment=a",
        "environment=a%00=b",
        "environment==x",
        "started_at=x",
        "order=x",
        "a=1",
    ]
    + ["started_at=0001-01-01T00:00:00%2B23:59", "started_at=9999-12-31T23:59:59-23:59", "%00=1", "order=%00", "id=1"]
    + ["started_at=2024-02-30T00:00:00Z", f"environment={','.join(f'a{i}=b' for i in range(33))}", "self=1"],
)
def test_bad_fields_in_the_query_are_refused(query: str, api: Client) -> None:
    assert code(api.post(f"{URL}?{query}", DOCUMENT, content_type="application/xml"), 422) in (
        "invalid",
        "unknown_field",
    )
    assert not Upload.objects.exists()


@pytest.mark.parametrize(
    "metadata",
    [
        "[]",
        "1",
        "null",
        '"x"',
        "{",
        "\ufeff{}",
        '{"attempt": NaN}',
        '{"attempt": 1e999}',
        '{"attempt": 1.5}',
        '{"a": 1}',
    ]
    + [
        '{"commit": null}',
        '{"commit": {}}',
        '{"commit": [1]}',
        '{"attempt": true}',
        '{"started_at": 1}',
        '{"order": []}',
    ]
    + [
        '{"order": {}}',
        '{"environment": 5}',
        '{"environment": ["a=b", 1]}',
        '{"environment": {"": "x"}}',
        '{"attempt": []}',
    ]
    + [f'{{"attempt": {"9" * 5_000}}}', f'{{"environment": {{"a": "{"x" * 256}"}}}}', r'{"commit": "\ud800"}']
    + [r'{"environment": {"a": "\u0000"}}', r'{"commit": "\u0000"}', r'{"\u0000": 1}', '{"build_url": ["http://a.b"]}'],
)
def test_metadata_of_wrong_types_are_refused(metadata: str, api: Client) -> None:
    assert code(send_form(api, metadata), 422) in ("invalid", "unknown_field", "bad_metadata")
    assert code(send_form(api, metadata.encode()), 422) in ("invalid", "unknown_field", "bad_metadata")
    assert not Upload.objects.exists()


@pytest.mark.parametrize("metadata", ["[" * 100_000, '{"environment":' + '{"a":' * 9_000 + "1" + "}" * 9_001])
def test_deep_metadata_is_refused(metadata: str, api: Client) -> None:
    assert code(send_form(api, metadata), 422) == "bad_metadata"


@pytest.mark.parametrize("field", ["order", "attempt", "environment", "started_at", "commit", "unknown"])
def test_metadata_just_within_the_reach_of_json_are_refused(field: str, api: Client) -> None:
    for depth in range(800, 1_000, 20):
        assert code(send_form(api, f'{{"{field}": {"[" * depth}{"]" * depth}}}'), 422) == "bad_metadata"


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("metadata", [r'{"environment": {"a": "\ud800"}}', r'{"environment": {"\udfff": "a"}}'])
def test_surrogates_in_the_environment_are_refused(metadata: str, api: Client) -> None:
    assert code(send_form(api, metadata), 422) == "bad_metadata"


@pytest.mark.parametrize("metadata", [r'{"\ud800": 1}', r'{"order": "\ud800"}'])
def test_surrogates_are_not_repeated_in_the_error(metadata: str, api: Client) -> None:
    assert code(send_form(api, metadata), 422) == "bad_metadata"


def test_odd_characters_in_the_fields_of_a_form_are_refused(api: Client) -> None:
    def form(disposition: str, value: bytes) -> Any:
        part = b"--B\r\nContent-Disposition: form-data; %b\r\n\r\n%b\r\n"
        body = part % (b'name="file"; filename="a.xml"', DOCUMENT) + part % (disposition.encode(), value) + b"--B--\r\n"
        return api.generic("POST", URL, body, "multipart/form-data; boundary=B")

    for name in ("commit", "environment", "order"):
        assert code(form(f'name="{name}"', b"a=\0"), 422) == "invalid"
    assert form("name*=raw_unicode_escape''%5Cud800", b"x").status_code < 500
    assert code(form('name="a\0"', b"x"), 422) == "unknown_field"
    assert form('name="branch"', b"\xed\xa0\x80").json()["metadata"] == {"branch": "\N{REPLACEMENT CHARACTER}" * 3}


def test_large_metadata_is_refused(api: Client) -> None:
    assert code(send_form(api, b" " * 70_000), 413) == "limit_metadata"
    assert code(send_form(api, " " * 2_000_000), 413) == "limit_fields"


# -- bodies ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "content_type",
    ["multipart/form-data", "multipart/form-data; boundary=", "multipart/form-data; boundary=\xff"]
    + [f"multipart/form-data; boundary={'a' * 300}"],
)
def test_bad_multipart_is_refused(content_type: str, api: Client) -> None:
    assert code(api.generic("POST", URL, b"x", content_type), 400) == "bad_multipart"


def test_a_form_that_is_cut_or_has_no_file_is_refused(api: Client) -> None:
    whole = b'--B\r\nContent-Disposition: form-data; name="f"; filename="a"\r\n\r\n<testsuite/>\r\n--B--\r\n'
    for end in range(0, len(whole) - 8, 5):
        response = api.generic("POST", URL, whole[:end], "multipart/form-data; boundary=B")
        assert code(response, 422 if response.status_code == 422 else 400) in (
            "empty",
            "bad_multipart",
            "bad_request",
            "cut_short",
        )


def test_more_files_than_the_limit_are_refused(api: Client) -> None:
    part = b'--B\r\nContent-Disposition: form-data; name="f"; filename="a"\r\n\r\nx\r\n'
    response = api.generic("POST", URL, part * 2_001 + b"--B--\r\n", "multipart/form-data; boundary=B")
    assert code(response, 413) == "limit_files"


def test_more_fields_than_the_limit_are_refused(api: Client) -> None:
    assert code(api.post(URL, {f"f{index}": "x" for index in range(300)}), 413) == "limit_fields"


@pytest.mark.parametrize("name", ["../../etc/passwd", "/abs", "C:\\x", "\xff", "é" * 300, "%00", "<script>"])
def test_file_names_are_labels(name: str, api: Client) -> None:
    assert api.post(URL, {"file": SimpleUploadedFile(name, DOCUMENT)}).status_code == 202


@pytest.mark.parametrize("kind", ["image/png", "video/mp4", "multipart/mixed; boundary=B", "multipart/related"])
def test_what_is_never_a_report_is_refused(kind: str, api: Client) -> None:
    assert code(api.generic("POST", URL, DOCUMENT, kind), 415) == "unsupported_media_type"


def test_an_empty_body_is_refused(api: Client) -> None:
    assert code(api.generic("POST", URL, b"", "application/xml"), 422) == "empty"


def test_a_content_encoding_is_what_it_says_or_refused(api: Client) -> None:
    def send(body: bytes, encoding: str) -> Any:
        return api.generic("POST", URL, body, "application/xml", headers={"Content-Encoding": encoding})

    assert send(gzip.compress(DOCUMENT, mtime=0), "gzip").status_code == 202
    assert send(DOCUMENT, "identity").status_code == 202
    assert code(send(DOCUMENT, "gzip"), 400) == "bad_encoding"
    for encoding in ("br", "deflate", "zstd", "gzip, gzip", "x"):
        assert code(send(DOCUMENT, encoding), 415) == "unsupported_encoding"


def test_a_stated_length_over_the_limit_is_refused_unread(upload_token: str) -> None:
    class Untouched(io.BytesIO):
        def read(self, *size: int | None) -> bytes:
            raise AssertionError("the body was read")

    response = call(upload_token, Untouched(), CONTENT_LENGTH=str(300 * 1024 * 1024), CONTENT_TYPE="application/xml")
    assert code(response, 413) == "limit_bytes_in"


def test_a_body_shorter_than_its_length_is_refused(upload_token: str) -> None:
    response = call(
        upload_token, io.BytesIO(DOCUMENT[:-14]), CONTENT_LENGTH=str(len(DOCUMENT)), CONTENT_TYPE="text/xml"
    )
    assert code(response, 400) == "cut_short"
    assert not Upload.objects.exists()


def test_a_form_shorter_than_its_length_is_refused(upload_token: str) -> None:
    part = b'--B\r\nContent-Disposition: form-data; name="f"; filename="a"\r\n\r\n%b\r\n' % DOCUMENT
    whole = part * 2 + b"--B--\r\n"
    said = {"CONTENT_LENGTH": str(len(whole)), "CONTENT_TYPE": "multipart/form-data; boundary=B"}
    for end in (len(part), len(part) + 5, len(whole) - 40, len(whole) - 5, len(whole) - 1):
        assert code(call(upload_token, io.BytesIO(whole[:end]), **said), 400) in ("cut_short", "bad_multipart")
    assert not Upload.objects.exists()
    assert call(upload_token, io.BytesIO(whole), **said).status_code == 202


def test_a_form_that_ends_within_a_file_is_refused(api: Client) -> None:
    part = b'--B\r\nContent-Disposition: form-data; name="f"; filename="a"\r\n\r\n%b\r\n' % DOCUMENT
    assert code(api.generic("POST", URL, part * 2, "multipart/form-data; boundary=B"), 400) == "cut_short"
    assert not Upload.objects.exists()


@pytest.mark.parametrize("error", [OSError("No more data"), InvalidChunkSize(b"zz"), ValueError("chunk")])
def test_a_chunked_body_that_is_cut_is_refused(error: Exception, upload_token: str) -> None:
    class Cut(io.BytesIO):
        def read(self, *size: int | None) -> bytes:
            raise error

    response = call(upload_token, Cut(), HTTP_TRANSFER_ENCODING="chunked", CONTENT_TYPE="text/xml")
    assert code(response, 400) == "cut_short"


def test_the_charset_of_a_report_does_not_change_its_query(api: Client) -> None:
    for charset in ("utf-16", "utf-7", "raw_unicode_escape", "latin-1"):
        kind = f"application/xml; charset={charset}"
        response = api.generic("POST", f"{URL}?branch=%C3%A9%5Cud800", DOCUMENT, kind)
        assert response.json()["metadata"] == {"branch": "é\\ud800"}


# -- idempotency -------------------------------------------------------------------------------------------------


def test_one_key_with_another_body_is_a_conflict(api: Client) -> None:
    def send(body: bytes) -> Any:
        return api.generic("POST", URL, body, "application/xml", headers={"Idempotency-Key": "k"})

    assert send(DOCUMENT).status_code == 202
    assert send(DOCUMENT).json()["id"] == Upload.objects.get().pk
    assert code(send(DOCUMENT + b"\n"), 409) == "idempotency_conflict"


def test_one_key_for_another_run_is_a_conflict(api: Client) -> None:
    for build, status in (("1", 202), ("2", 409)):
        response = api.generic(
            "POST", f"{URL}?build_id={build}", DOCUMENT, "application/xml", headers={"Idempotency-Key": "k"}
        )
        assert response.status_code == status


def test_a_key_that_comes_later_is_remembered(api: Client) -> None:
    first = api.post(URL, DOCUMENT, content_type="application/xml")
    for body, status in ((DOCUMENT, 202), (DOCUMENT, 202), (DOCUMENT + b"\n", 409)):
        response = api.generic("POST", URL, body, "application/xml", headers={"Idempotency-Key": "k"})
        assert response.status_code == status
    assert Upload.objects.get().pk == first.json()["id"]


def test_a_later_key_that_another_upload_has_is_a_conflict(api: Client) -> None:
    keyed = {"Idempotency-Key": "k"}
    api.post(URL, DOCUMENT, content_type="application/xml")
    api.generic("POST", URL, DOCUMENT + b"\n", "application/xml", headers=keyed)
    response = api.generic("POST", URL, DOCUMENT, "application/xml", headers=keyed)
    assert code(response, 409) == "idempotency_conflict"


def test_a_key_that_another_takes_at_that_moment_is_a_conflict(project: Project) -> None:
    old = upload_receive(project=project, body=body_of(b"1"), metadata=RunMetadata())[0]
    upload_receive(project=project, body=body_of(b"2"), metadata=RunMetadata(), idempotency_key="k")
    with pytest.raises(IdempotencyConflict):
        _remember_key(old, "k")


def test_another_broken_rule_is_no_known_upload(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*args: object, **options: object) -> None:
        raise IntegrityError("another rule")

    monkeypatch.setattr(UploadChunk.objects, "bulk_create", broken)
    for key in (None, "k"):
        with pytest.raises(IntegrityError, match="another rule"):
            upload_receive(project=project, body=body_of(b"1"), metadata=RunMetadata(), idempotency_key=key)
    assert not Upload.objects.exists()


@pytest.mark.parametrize("key", ["k" * 256, "a\tb", "\x85"])
def test_odd_keys_are_refused_or_ignored(key: str, api: Client) -> None:
    response = api.generic("POST", URL, DOCUMENT, "application/xml", headers={"Idempotency-Key": key})
    assert response.status_code in (202, 422)
