"""Whatever a form holds reaches the bundle or is refused: a failing report that nobody reads would pass the gate."""

import gzip
import io
import itertools
import json
import os
import subprocess
import sys
import zlib
from typing import Any

import pytest
from django.core.files.uploadhandler import MemoryFileUploadHandler, TemporaryFileUploadHandler
from django.db import connection
from django.test import Client
from hypothesis import given
from hypothesis import strategies as st

from dashboard.api.upload import spool
from dashboard.api.upload.multipart import BadMultipart, read_form
from ingest.bundle import read_parts
from ingest.models import Upload
from tests.conftest import ROOT

UPLOADS, GATE = "/api/v1/projects/shop/uploads", "/api/v1/projects/shop/gate"
PASSING = b"<testsuite name='s'><testcase classname='c' name='a'/></testsuite>"
FAILING = b"<testsuite><testcase classname='c' name='b'><failure>canary</failure></testcase></testsuite>"
KIND = "multipart/form-data; boundary=B"
BEGIN, END = b"--B\r\n", b"--B--\r\n"


@pytest.fixture(autouse=True)
def no_worker(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dashboard.api.upload.uploads.wake_worker", lambda upload_id: None)
    monkeypatch.setattr("dashboard.api.quarantine.gate.wake_worker", lambda upload_id: None)


@pytest.fixture
def api(upload_token: str) -> Client:
    return Client(headers={"Authorization": f"Bearer {upload_token}"}, raise_request_exception=False)


def part(head: str | bytes, content: bytes = FAILING) -> bytes:
    """A part with these headers."""
    written = head if isinstance(head, bytes) else head.encode()
    return BEGIN + written + b"\r\n\r\n" + content + b"\r\n"


def named(disposition: str, content: bytes = FAILING) -> bytes:
    return part(f"Content-Disposition: form-data; {disposition}", content)


HONEST = named('name="file"; filename="ok.xml"', PASSING)


def stored(upload: Upload) -> dict[str, bytes]:
    """What the bundle of an upload holds, by label."""
    stream = io.BytesIO(b"".join(bytes(chunk.content) for chunk in upload.chunks.order_by("position")))
    return {name: content.read() for name, content in read_parts(stream)}


def send(api: Client, body: bytes, kind: str = KIND, address: str = UPLOADS, **headers: str) -> Any:
    return api.generic("POST", address, body, kind, headers=headers)


# -- files under odd names ---------------------------------------------------------------------------------------

LABELS = {
    'filename=".."': "part 2 (..)",
    'filename="."': "part 2 (.)",
    'filename="reports/"': "part 2 (reports/)",
    'filename="a/.."': "part 2 (a/..)",
    'filename="a\\\\.."': "part 2 (a\\..)",
    'filename="/"': "part 2 (/)",
    'filename=" "': "part 2",
    'filename=""': "part 2",
    "filename=": "part 2",
    'filename="\0"': "part 2",
    'filename="a\0.xml"': "a.xml",
    'filename="\x7f\x01"': "part 2",
    'filename="/etc/passwd"': "passwd",
    'filename="C:\\dir\\x.xml"': "x.xml",
    'filename="a\\"b.xml"': 'a"b.xml',
    'filename="a;b.xml"': "a;b.xml",
    "filename=plain.xml": "plain.xml",
    "filename=two words.xml": "two words.xml",
    'FileName="big.xml"': "big.xml",
    "filename*=utf-8''%E2%82%AC.xml": "€.xml",
    "filename*=UTF-8''..": "part 2 (..)",
    "filename*=utf-8''%2E%2E": "part 2 (..)",
    "filename*=iso-8859-1'en'%E9.xml": "é.xml",
    "filename*=utf-16''%00a": "a",
    "filename*=utf-8''%FF%FE": "\N{REPLACEMENT CHARACTER}\N{REPLACEMENT CHARACTER}",
    "filename*=nonsense": "nonsense",
    "filename*=": "part 2",
    "filename=\"a.xml\"; filename*=utf-8''b.xml": "b.xml",
    'filename="' + "x" * 4_000 + '.xml"': "x" * 4_000,
    'filename="..."': "...",
    'filename="metadata"': "metadata",
}


@pytest.mark.parametrize("file_name", LABELS, ids=lambda text: ascii(text)[:40])
def test_a_file_under_any_name_is_in_the_bundle(api: Client, file_name: str) -> None:
    response = send(api, HONEST + named(f'name="file"; {file_name}') + END)
    assert response.status_code == 202, response.content
    assert stored(Upload.objects.get()) == {"ok.xml": PASSING, LABELS[file_name]: FAILING}


@pytest.mark.parametrize("field", ["f", "file", "exit_code", "branch", "é", "a b", "metadata2", "Metadata"])
def test_a_file_in_any_field_is_in_the_bundle(api: Client, field: str) -> None:
    send(api, HONEST + named(f'name="{field}"; filename="x.xml"') + END)
    assert stored(Upload.objects.get()) == {"ok.xml": PASSING, "x.xml": FAILING}


def test_files_of_one_name_are_all_in_the_bundle(api: Client) -> None:
    body = named('name="f"; filename="x"', PASSING) + named('name="f"; filename="x"') + END
    assert send(api, body).json()["file_count"] == 2


def test_a_browsers_empty_choice_is_no_file(api: Client) -> None:
    assert send(api, HONEST + named('name="file"; filename=""', b"") + END).json()["file_count"] == 1


# -- what has no place is refused --------------------------------------------------------------------------------

BAD = (400, "bad_multipart")
DISPOSITION = 'Content-Disposition: form-data; name="file"; filename="x.xml"'
REFUSED: dict[str, tuple[bytes, tuple[int, str]]] = {
    "a field that holds a report": (HONEST + named('name="file"') + END, (422, "unknown_field")),
    "a field without a file name": (HONEST + named("name=report") + END, (422, "unknown_field")),
    "a known field that holds a report": (HONEST + named('name="branch"') + END, (422, "invalid")),
    "an environment that holds a report": (
        HONEST + named('name="environment"', b"os=" + FAILING) + END,
        (422, "invalid"),
    ),
    "TAP in a field": (HONEST + named('name="job"', b"1..1\nnot ok 1") + END, (422, "invalid")),
    "the field wait": (HONEST + named('name="wait"') + END, (422, "unknown_field")),
    "the field format": (HONEST + named('name="format"') + END, (422, "unknown_field")),
    "a report as metadata": (HONEST + named('name="metadata"') + END, (422, "bad_metadata")),
    "a report as a file of metadata": (
        HONEST + named('name="metadata"; filename="m.json"') + END,
        (422, "bad_metadata"),
    ),
    "a list as metadata": (HONEST + named('name="metadata"', b"[]") + END, (422, "bad_metadata")),
    "a report in a string of metadata": (
        HONEST + named('name="metadata"', json.dumps({"branch": FAILING.decode()}).encode()) + END,
        (422, "invalid"),
    ),
    "metadata within metadata": (
        HONEST + named('name="metadata"', b'{"metadata": "x"}') + END,
        (422, "unknown_field"),
    ),
    "two metadata": (
        HONEST + named('name="metadata"', b"{}") + named('name="metadata"', b"{}") + END,
        (422, "duplicate_field"),
    ),
    "metadata as field and as file": (
        HONEST + named('name="metadata"', b"{}") + named('name="metadata"; filename="m"') + END,
        (422, "duplicate_field"),
    ),
    "one member twice": (
        HONEST + named('name="metadata"', b'{"branch": "a", "branch": "b"}') + END,
        (422, "duplicate_field"),
    ),
    "one field twice": (
        HONEST + named('name="branch"', b"a") + named('name="branch"', b"a") + END,
        (422, "duplicate_field"),
    ),
    "no disposition": (HONEST + part("Content-Type: text/xml") + END, BAD),
    "no headers": (HONEST + BEGIN + b"\r\n" + FAILING + b"\r\n" + END, BAD),
    "no name": (HONEST + named('filename="x.xml"') + END, (422, "bad_multipart")),
    "an empty name": (HONEST + named('name=" "; filename="x.xml"') + END, (422, "bad_multipart")),
    "an attachment": (
        HONEST + part('Content-Disposition: attachment; name="file"; filename="x.xml"') + END,
        BAD,
    ),
    "a disposition that cannot be read": (HONEST + named('name="file"; filename="x') + END, BAD),
    "a disposition with rubbish": (HONEST + named('name="file"x; filename="x"') + END, BAD),
    "two names": (HONEST + named('name="file"; name="metadata"; filename="x"') + END, BAD),
    "two file names": (HONEST + named('name="file"; filename="x"; filename="y"') + END, BAD),
    "two dispositions": (HONEST + part(f"{DISPOSITION}\r\n{DISPOSITION}") + END, BAD),
    "a line that is no header": (HONEST + part(f"{DISPOSITION}\r\nrubbish") + END, BAD),
    "a folded header": (HONEST + part(f"{DISPOSITION}\r\n folded: x") + END, BAD),
    "a bare line feed in the head": (HONEST + part(f"X: y\n{DISPOSITION}") + END, BAD),
    "a head without an end": (HONEST + part("X: " + "y" * 20_000 + f"\r\n{DISPOSITION}") + END, BAD),
    "base64": (HONEST + part(f"{DISPOSITION}\r\nContent-Transfer-Encoding: base64", b"PHRlc3Q+") + END, BAD),
    "quoted-printable": (HONEST + part(f"{DISPOSITION}\r\nContent-Transfer-Encoding: quoted-printable") + END, BAD),
    "multipart in a part": (
        HONEST + part(f"{DISPOSITION}\r\nContent-Type: Multipart/Mixed; boundary=C") + END,
        BAD,
    ),
    "text before the first boundary": (FAILING + b"\r\n" + HONEST + END, BAD),
    "text after the last boundary": (HONEST + END + FAILING, BAD),
    "a form after the last boundary": (HONEST + END + named('name="file"; filename="x"') + END, BAD),
    "a boundary that goes on": (HONEST + b"--Bx\r\n" + FAILING + END, BAD),
    "line feeds alone": ((HONEST + END).replace(b"\r\n", b"\n"), (400, "cut_short")),
    "no last boundary": (HONEST + named('name="file"; filename="x"'), (400, "cut_short")),
    "nothing of ours": (FAILING, BAD),
    "no file": (named('name="branch"', b"main") + END, (422, "empty")),
}


@pytest.mark.parametrize("row", REFUSED)
def test_what_has_no_place_is_refused(api: Client, row: str) -> None:
    body, expected = REFUSED[row]
    response = send(api, body)
    error = response.json()["error"]
    assert (response.status_code, error["code"], bool(error["sentence"])) == (*expected, True)
    assert not Upload.objects.exists()


@pytest.mark.parametrize("row", ["no disposition", "base64", "multipart in a part", "two file names"])
def test_a_part_that_is_refused_is_named(api: Client, row: str) -> None:
    assert "part 2" in send(api, REFUSED[row][0]).json()["error"]["sentence"].lower()


@pytest.mark.parametrize(
    "kind",
    [
        *("multipart/form-data", "multipart/form-data; boundary=", "multipart/form-data; boundary=C"),
        *("multipart/form-data; boundary=B; boundary=C", 'multipart/form-data; boundary="B', "multipart/mixed"),
        *("multipart/mixed; boundary=B", "multipart/related; boundary=B", "multipart/x; boundary=B"),
    ],
)
def test_a_form_with_an_odd_content_type_is_refused(api: Client, kind: str) -> None:
    assert send(api, HONEST + named('name="file"; filename="x"') + END, kind).status_code in (400, 415)
    assert not Upload.objects.exists()


@pytest.mark.parametrize("kind", [KIND, "application/xml"])
@pytest.mark.parametrize("encoding", ["gzip", "deflate", "br", "zstd", "compress", "gzip, gzip"])
def test_an_encoded_body_is_read_or_refused(api: Client, kind: str, encoding: str) -> None:
    plain = HONEST + named('name="file"; filename="x"') + END if kind == KIND else FAILING
    body = gzip.compress(plain, mtime=0) if encoding == "gzip" else zlib.compress(plain)
    response = send(api, body, kind, **{"Content-Encoding": encoding})
    if (kind, encoding) == ("application/xml", "gzip"):
        assert gzip.decompress(stored(Upload.objects.get())["report.xml"]) == FAILING
    else:
        assert (response.status_code, response.json()["error"]["code"]) == (415, "unsupported_encoding")
        assert not Upload.objects.exists()


@pytest.mark.parametrize("kind", ["application/json", "text/plain", "text/html", "text/csv", "application/x-ndjson"])
def test_a_raw_body_of_any_text_is_in_the_bundle(api: Client, kind: str) -> None:
    assert send(api, b'{"Action": "fail"}', kind).status_code == 202
    assert stored(Upload.objects.get()) == {"report.xml": b'{"Action": "fail"}'}


@pytest.mark.parametrize(
    ("query", "fields"),
    [
        ("exit_code=1&exit_code=0", b""),
        ("exit_code=1", named('name="exit_code"', b"0")),
        ("exit_code=1", named('name="metadata"', b'{"exit_code": 0}')),
        ("", named('name="exit_code"', b"1") + named('name="exit_code"', b"0")),
        ("", named('name="metadata"', b'{"exit_code": 1, "exit_code": 0}')),
        ("exit_code=1&runner=go&runner=pytest", b""),
        ("exit_code=1&branch=main&branch=other", b""),
    ],
)
def test_of_two_exit_codes_none_is_ignored(api: Client, query: str, fields: bytes) -> None:
    response = send(api, HONEST + fields + END, address=f"{GATE}?{query}")
    assert (response.status_code, response.json()["error"]["code"]) == (422, "duplicate_field")
    assert not Upload.objects.exists()


def test_one_exit_code_said_in_two_places_is_one(api: Client) -> None:
    response = send(api, HONEST + named('name="exit_code"', b"1") + END, address=f"{GATE}?exit_code=1&wait=0")
    assert response.status_code == 200, response.content


# -- the reader --------------------------------------------------------------------------------------------------


def read(body: bytes, size: int) -> list[tuple[str, str | None, bytes]]:
    chunks = (body[at : at + size] for at in range(0, len(body), size))
    return [(one.name, one.file_name, b"".join(one.content)) for one in read_form(KIND, chunks)]


_CONTENT = st.binary(max_size=40).filter(lambda content: b"\r\n--B" not in b"\r\n" + content)


@given(st.lists(_CONTENT | st.sampled_from([b"--B", b"\r\n--", b"\r\n--\r\nB", b"\r", b"--B--"]), max_size=5))
def test_parts_come_out_as_they_went_in_however_the_body_is_cut(contents: list[bytes]) -> None:
    contents = [content for content in contents if b"\r\n--B" not in b"\r\n" + content]
    body = b"".join(named(f'name="f{i}"; filename="{i}"', content) for i, content in enumerate(contents)) + END
    expected = [(f"f{i}", str(i), content) for i, content in enumerate(contents)]
    assert all(read(body, size) == expected for size in (1, 2, 3, 7, 64, len(body)))


@pytest.mark.parametrize("size", [1, 2, 3, 500])
def test_an_empty_part_may_end_with_its_head(size: int) -> None:
    """werkzeug writes no second line break there."""
    head = b'--B\r\nContent-Disposition: form-data; name="%s"\r\n'
    body = head % b"job" + b"\r\n" + head % b"shard" + b"\r\n1/2\r\n" + END
    assert read(body, size) == [("job", None, b""), ("shard", None, b"1/2")]


@given(st.lists(st.sampled_from([b"--B", b"--", b"\r\n", b"B", b": ", b"x", b"; ", HONEST, END, FAILING]), max_size=12))
def test_any_body_is_read_or_refused(pieces: list[bytes]) -> None:
    try:
        found = read(b"".join(pieces), 5)
    except (BadMultipart, EOFError):
        return
    kept = b"".join(content for _, _, content in found)
    assert kept.count(b"canary") == b"".join(pieces).count(b"canary")


# -- how many, and where they go ---------------------------------------------------------------------------------


def many(files: int) -> bytes:
    """Reports of as many classes, and too large together to be held in memory."""
    content = (PASSING.replace(b"'c'", b"'c%d'" % number) + b" " * 2_000 for number in range(files))
    return b"".join(named(f'name="file"; filename="{i}.xml"', one) for i, one in enumerate(content)) + END


def test_an_honest_upload_of_1900_files_opens_one(api: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    most, count = [0], itertools.count()
    write = spool.Spool.write

    def watched(self: spool.Spool, data: bytes) -> int:
        if next(count) % 500 == 0:
            most[0] = max(most[0], len(os.listdir("/dev/fd")))
        return write(self, data)

    monkeypatch.setattr(spool.Spool, "write", watched)
    before = len(os.listdir("/dev/fd"))
    assert send(api, many(1_900)).json()["file_count"] == 1_900
    assert most[0] <= before + 2
    assert len(stored(Upload.objects.get())) == 1_900


def test_one_file_too_many_is_refused_while_it_comes(api: Client, settings: Any) -> None:
    from dataclasses import replace

    settings.LIMITS = replace(settings.LIMITS, files=3)
    response = send(api, many(4)[:-20] + b"never read")
    assert (response.status_code, response.json()["error"]["code"]) == (413, "limit_files")
    assert "3 (LIMIT_FILES)" in response.json()["error"]["sentence"]


def test_bytes_are_counted_over_all_files(api: Client, settings: Any) -> None:
    from dataclasses import replace

    settings.LIMITS = replace(settings.LIMITS, bytes_in=2 * len(PASSING))
    assert send(api, HONEST + named('name="f"; filename="x"', PASSING) + END).status_code == 202
    response = send(api, HONEST + named('name="f"; filename="x"', PASSING + b" ") + END)
    assert (response.status_code, response.json()["error"]["code"]) == (413, "limit_bytes_in")


def test_all_requests_together_hold_no_more_than_the_spool_may(api: Client, settings: Any) -> None:
    settings.SPOOL_BYTES = 1_000
    with spool.Spool() as other:
        other.write(b"x" * 990)
        response = send(api, HONEST + END)
        assert (response.status_code, response.json()["error"]["code"]) == (503, "busy")
        assert response.headers["Retry-After"]
        assert spool.total.size == 990
    assert send(api, HONEST + END).status_code == 202
    assert spool.total.size == 0


_FEW_FILES = """
import resource, sys
resource.setrlimit(resource.RLIMIT_NOFILE, (256, 256))
import django
from django.conf import settings
settings.DATABASES["default"]["NAME"] = sys.argv[4]
django.setup()
from django.test import Client
client = Client(headers={"Authorization": "Bearer " + sys.argv[1], "Host": "localhost"})
body = sys.stdin.buffer.read()
answer = client.generic("POST", sys.argv[2], body, sys.argv[3])
print(answer.status_code, answer.json().get("file_count"))
"""


@pytest.mark.django_db(transaction=True)
def test_1900_files_need_no_more_than_256_descriptors(upload_token: str) -> None:
    name = connection.settings_dict["NAME"]
    child = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", _FEW_FILES, upload_token, UPLOADS, KIND, name],
        input=many(1_900),
        capture_output=True,
        cwd=ROOT,
        env=os.environ | {"DJANGO_SETTINGS_MODULE": "dashboard.settings"},
        timeout=120,
    )
    assert child.stdout.decode().strip() == "202 1900", child.stderr.decode()[-2_000:]
    assert len(stored(Upload.objects.get())) == 1_900


# -- pages -------------------------------------------------------------------------------------------------------

PAGES = ["/sign-in", "/password/lost", "/invitations/x", "/", "/api/v1/projects/shop/quarantines", "/api/schema"]


@pytest.mark.parametrize("page", PAGES)
def test_a_page_takes_no_file_and_opens_none(api: Client, page: str, monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[object] = []
    for handler in (MemoryFileUploadHandler, TemporaryFileUploadHandler):
        monkeypatch.setattr(handler, "new_file", lambda *args, **options: opened.append(args))
    before = len(os.listdir("/dev/fd"))
    body = b"".join(named(f'name="f{i}"; filename="{i}"', b"x" * 2_000) for i in range(1_003)) + END
    client = Client(raise_request_exception=False)
    response = (api if page.startswith("/api") else client).generic("POST", page, body, KIND)
    assert response.status_code in (302, 403, 404, 405, 415), response.content
    assert (len(os.listdir("/dev/fd")), opened) == (before, [])


def test_a_page_says_that_it_takes_no_files(db: None) -> None:
    response = Client().post("/sign-in", {"file": io.BytesIO(b"x"), "username": "a", "password": "b"})
    assert response.status_code == 415
    assert "takes no files" in response.content.decode()


def test_a_program_is_told_that_an_address_takes_no_files(api: Client) -> None:
    response = api.post("/api/v1/projects/shop/policy/dry-run", {"file": io.BytesIO(b"x")})
    assert (response.status_code, response.json()["error"]["code"]) in ((415, "no_files"), (403, "forbidden"))


@pytest.mark.parametrize("page", ["/sign-in", "/api/v1/projects/shop/quarantines"])
@pytest.mark.parametrize("kind", [KIND, "application/x-www-form-urlencoded", "application/json"])
def test_a_page_refuses_a_large_body_unread(api: Client, page: str, kind: str) -> None:
    class Untouched(io.BytesIO):
        def read(self, *size: int | None) -> bytes:
            raise AssertionError("the body was read")

    environ = {"REQUEST_METHOD": "POST", "PATH_INFO": page, "CONTENT_TYPE": kind, "CONTENT_LENGTH": str(600_000_000)}
    assert api.request(**environ, **{"wsgi.input": Untouched()}).status_code == 413
