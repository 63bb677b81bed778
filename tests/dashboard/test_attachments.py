"""Files beside a report: taken within limits, shown at the failure, sent so that no browser runs them, gone in time."""

import io
import zipfile
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from dashboard.people.throttling import Bucket
from dashboard.retention.services import retention_run
from ingest.attachments.limits import AttachmentLimits
from ingest.attachments.models import Attachment, AttachmentChunk
from ingest.attachments.selectors import run_attachments
from ingest.metadata import RunMetadata
from ingest.models import Project, Test, Upload
from ingest.processing import upload_process
from ingest.services import project_create, token_create, upload_receive
from tests.conftest import Send, body_of
from tests.ingest.test_attachments import GIF, HTML, SVG, png
from tests.people.signed_in import browser_of, member

REPORT = b"""<testsuite name="shop"><testcase classname="cart" name="pays"><failure message="no">no</failure>
<system-out>[[ATTACHMENT|test-results/pays/failed-1.png]]</system-out></testcase>
<testcase classname="cart" name="ships"><properties><property name="attachment" value="/ci/shop/logs/ships.log"/></properties>
<failure message="late">late</failure></testcase>
<testcase classname="cart" name="packs"><properties><property name="attachment" value="packs.png"/></properties></testcase>
</testsuite>"""
SHOT = ("test-results/pays/failed-1.png", png())


class Sender:
    def __init__(self, token: str, slug: str = "shop") -> None:
        self._client, self._headers = Client(), {"authorization": f"Bearer {token}"}
        self._address = f"/api/v1/projects/{slug}/uploads"

    def attach(self, upload: Upload, *files: tuple[str, bytes]) -> Any:
        body = b"".join(
            b'--xx\r\nContent-Disposition: form-data; name="file"; filename="%s"\r\n\r\n%s\r\n'
            % (name.encode(), content)
            for name, content in files
        )
        return self.post(upload, body + b"--xx--\r\n", "multipart/form-data; boundary=xx")

    def post(self, upload: Upload, body: bytes, kind: str) -> Any:
        address = f"{self._address}/{upload.pk}/attachments"
        return self._client.post(address, body, content_type=kind, headers=self._headers)

    def get(self, path: str) -> Any:
        return self._client.get(f"{self._address}/{path}", headers=self._headers)


@pytest.fixture
def sender(upload_token: str) -> Sender:
    return Sender(upload_token)


@pytest.fixture
def upload(send: Send) -> Upload:
    return send(REPORT, build_id="1")


def refusals(response: Any) -> dict[str, str]:
    assert response.status_code == 200, response.content
    return {file["name"]: file["code"] for file in response.json()["refused"]}


def mentioned_by(name: str) -> list[str]:
    return list(Test.objects.filter(attachmentuse__attachment__name=name).values_list("name", flat=True))


# -- where they are shown ----------------------------------------------------------------------------------------


def test_files_are_shown_at_the_failures_that_mention_them(
    project: Project, upload: Upload, sender: Sender, admin_client: Client
) -> None:
    sent = (SHOT, ("logs/ships.log", b"too late\n"), ("video.webm", b"\x1a\x45\xdf\xa3" + bytes(9)))
    assert refusals(sender.attach(upload, *sent)) == {}
    assert (mentioned_by(SHOT[0]), mentioned_by("logs/ships.log"), mentioned_by("video.webm")) == (
        ["pays"],
        ["ships"],
        [],
    )
    page = admin_client.get(f"/projects/shop/runs/{upload.run_id}")
    assert [attachment.name for attachment in page.context["other_attachments"]] == ["video.webm"]
    shot = Attachment.objects.get(name=SHOT[0])
    address = f"/projects/shop/attachments/{shot.pk}"
    pays = Test.objects.get(name="pays")
    for where in (f"runs/{upload.run_id}", f"runs/{upload.run_id}/tests/{pays.number}", "builds/1"):
        assert f'<img src="{address}/picture"' in admin_client.get(f"/projects/shop/{where}").content.decode(), where


def test_a_report_that_comes_after_its_files_finds_them(project: Project, sender: Sender) -> None:
    upload, _ = upload_receive(project=project, body=body_of(REPORT), metadata=RunMetadata(build_id="2"))
    sender.attach(upload, SHOT)
    assert mentioned_by(SHOT[0]) == []
    upload_process(upload_id=upload.pk)
    assert mentioned_by(SHOT[0]) == ["pays"]


def test_a_test_that_was_renamed_since_keeps_its_files(project: Project, upload: Upload, sender: Sender) -> None:
    sender.attach(upload, SHOT)
    now = Test.objects.get(name="ships")
    Test.objects.filter(name="pays").update(alias_of=now)
    by_test, _ = run_attachments(project, [upload.run_id])
    assert [attachment.name for attachment in by_test[now.pk]] == [SHOT[0]]


def test_the_same_file_again_is_kept_once_and_another_of_its_name_is_refused(upload: Upload, sender: Sender) -> None:
    for _ in range(2):
        (kept,) = sender.attach(upload, SHOT).json()["kept"]
    assert (kept["kind"], kept["size"], Attachment.objects.count()) == ("png", len(SHOT[1]), 1)
    assert refusals(sender.attach(upload, (SHOT[0], GIF))) == {SHOT[0]: "attachment_name"}
    assert [file["name"] for file in sender.get(f"{upload.pk}/attachments").json()["results"]] == [SHOT[0]]


# -- how they are sent -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "content", "kind", "saved_as"),
    [
        ("a.png", png(), "image/png", "a.png"),
        ("evil.svg", SVG, "", "evil.svg.txt"),
        ("page.html", HTML, "", "page.html.txt"),
        ("a.png", HTML, "", "a.png.txt"),
        ("poly.gif", b"GIF89a\x20\x01\x20\x01/*" + HTML, "image/gif", "poly.gif"),
        ('q".log', b"x", "", "q-.log"),
    ],
    ids=["picture", "svg", "html", "html-as-png", "polyglot", "quote"],
)
def test_a_download_is_never_a_page(
    upload: Upload, sender: Sender, admin_client: Client, name: str, content: bytes, kind: str, saved_as: str
) -> None:
    written = name.replace('"', '\\"')
    (kept,) = sender.attach(upload, (written, content)).json()["kept"]
    address = f"/projects/shop/attachments/{kept['id']}"
    for answer in (admin_client.get(address), sender.get(f"{upload.pk}/attachments/{kept['id']}")):
        assert b"".join(answer.streaming_content) == content
        assert answer.headers["Content-Type"] == "application/octet-stream"
        assert answer.headers["Content-Disposition"].startswith(f'attachment; filename="{saved_as}"')
        assert answer.headers["X-Content-Type-Options"] == "nosniff"
        assert answer.headers["Content-Security-Policy"].startswith("sandbox; default-src 'none'")
    shown = admin_client.get(f"{address}/picture")
    assert shown.status_code == (200 if kind else 404)
    if kind:
        assert (shown.headers["Content-Type"], shown.headers["Content-Disposition"]) == (kind, "inline")
        assert shown.headers["Content-Security-Policy"].startswith("sandbox")


def test_a_picture_is_looked_at_again_when_it_is_shown(upload: Upload, sender: Sender, admin_client: Client) -> None:
    (kept,) = sender.attach(upload, SHOT).json()["kept"]
    AttachmentChunk.objects.update(content=HTML)
    assert admin_client.get(f"/projects/shop/attachments/{kept['id']}/picture").status_code == 404


def test_a_picture_that_would_fill_the_memory_is_a_download(
    upload: Upload, sender: Sender, admin_client: Client
) -> None:
    (kept,) = sender.attach(upload, ("bomb.png", png(60_000, 60_000))).json()["kept"]
    assert not Attachment.objects.get().is_shown
    assert admin_client.get(f"/projects/shop/attachments/{kept['id']}/picture").status_code == 404


def test_who_may_not_see_the_run_sees_no_file_of_it(upload: Upload, sender: Sender, django_user_model: Any) -> None:
    (kept,) = sender.attach(upload, SHOT).json()["kept"]
    elsewhere = project_create(slug="other", name="Other")
    stranger = django_user_model.objects.create_user("sam")
    member(stranger, elsewhere)
    address = f"/attachments/{kept['id']}"
    assert [browser_of(stranger).get(f"/projects/{slug}{address}").status_code for slug in ("shop", "other")] == [
        404,
        404,
    ]
    assert Client().get(f"/projects/shop{address}").status_code == 302
    token = token_create(project=elsewhere, name="ci", scope="upload")[1]
    assert Sender(token, "other").get(f"{upload.pk}/attachments/{kept['id']}").status_code == 404
    assert Sender(token, "other").attach(upload, SHOT).status_code == 404


# -- what is not taken -------------------------------------------------------------------------------------------


def test_what_is_too_much_or_of_no_known_kind_is_named_and_the_rest_is_kept(
    upload: Upload, sender: Sender, settings: Any
) -> None:
    settings.ATTACHMENT_LIMITS = AttachmentLimits(bytes=1_000, files=3, total=2_000)
    sent = sender.attach(
        upload,
        ("big.log", b"x" * 1_001),
        ("tool.exe", b"MZ\0\0"),
        ("late.log", b"x" * 100 + b"\xff"),
        ("empty.log", b""),
        ("../..", b"x"),
        ("a.log", b"x" * 900),
        ("b.log", b"y" * 900),
        ("c.log", b"z" * 900),
        SHOT,
        ("last.log", b"z"),
    )
    assert refusals(sent) == {
        "big.log": "attachment_too_large",
        "tool.exe": "attachment_type",
        "late.log": "attachment_type",
        "empty.log": "empty",
        "": "attachment_name",
        "c.log": "attachments_full",
        "last.log": "attachments_full",
    }
    assert set(Attachment.objects.values_list("name", flat=True)) == {"a.log", "b.log", SHOT[0]}
    assert Upload.objects.get(pk=upload.pk).state == Upload.State.PROCESSED


def test_a_flood_of_files_ends(upload: Upload, sender: Sender) -> None:
    flood = [(f"{number}", b"\0") for number in range(1_200)]
    assert sender.attach(upload, *flood).status_code == 413
    assert not Attachment.objects.exists()


def test_a_project_has_room_for_so_many_bytes_and_reports_keep_theirs(
    project: Project, upload: Upload, sender: Sender, send: Send, settings: Any
) -> None:
    Bucket.objects.all().delete()
    settings.PROJECT_ATTACHMENT_BYTES = 1_000
    assert refusals(sender.attach(upload, ("a.log", b"x" * 900), ("b.log", b"x" * 200))) == {"b.log": "project_full"}
    assert send(REPORT, build_id="2").state == Upload.State.PROCESSED
    Attachment.objects.update(received_at=timezone.now() - timedelta(days=31))
    retention_run(project=project)
    assert refusals(sender.attach(upload, ("b.log", b"x" * 200))) == {}


def test_files_go_by_their_own_age_and_with_their_report(project: Project, upload: Upload, sender: Sender) -> None:
    sender.attach(upload, SHOT, ("b.log", b"b"))
    Attachment.objects.filter(name="b.log").update(received_at=timezone.now() - timedelta(days=29))
    Attachment.objects.filter(name=SHOT[0]).update(received_at=timezone.now() - timedelta(days=31))
    assert retention_run(project=project)["attachments"] == 1
    assert [attachment.name for attachment in Attachment.objects.all()] == ["b.log"]
    Upload.objects.update(removed_at=timezone.now())
    retention_run(project=project)
    assert not AttachmentChunk.objects.exists()


@pytest.mark.parametrize(
    ("change", "answer"),
    [
        ({"received_at": timezone.now() - timedelta(days=2)}, (409, "attachment_late")),
        ({"pk": None}, (404, "not_found")),
    ],
)
def test_files_belong_to_an_upload_of_today(
    upload: Upload, sender: Sender, change: dict[str, Any], answer: tuple[int, str]
) -> None:
    if change.get("pk", 0) is None:
        upload.pk += 1_000
    else:
        Upload.objects.filter(pk=upload.pk).update(**change)
    response = sender.attach(upload, SHOT)
    assert (response.status_code, response.json()["error"]["code"]) == answer


# -- archives ----------------------------------------------------------------------------------------------------


def zipped(*files: tuple[str, bytes], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    body = io.BytesIO()
    with zipfile.ZipFile(body, "w", method) as archive:
        for name, content in files:
            archive.writestr(name, content)
    return body.getvalue()


def test_a_zip_brings_many_and_an_archive_inside_it_is_one_file(upload: Upload, sender: Sender) -> None:
    trace = zipped(("trace.network", b"{}"))
    body = zipped(SHOT, ("trace.zip", trace), ("../../etc/cron.d/x", b"* * * * *"), ("folder/", b""))
    assert refusals(sender.post(upload, body, "application/zip")) == {}
    assert set(Attachment.objects.values_list("name", "kind")) == {
        (SHOT[0], "png"),
        ("trace.zip", "zip"),
        ("etc/cron.d/x", "text"),
    }
    assert mentioned_by(SHOT[0]) == ["pays"]


def test_a_zip_that_inflates_beyond_measure_is_read_to_the_limit(upload: Upload, sender: Sender, settings: Any) -> None:
    settings.ATTACHMENT_LIMITS = AttachmentLimits(bytes=100_000, files=5, total=150_000)
    body = zipped(*((f"{number}.log", b" " * 50_000_000) for number in range(3)), ("a.log", b"a"))
    assert set(refusals(sender.post(upload, body, "application/zip")).values()) == {"attachment_too_large"}
    assert [attachment.name for attachment in Attachment.objects.all()] == ["a.log"]


@pytest.mark.parametrize(
    "body",
    [b"PK\x03\x04nothing", zipped(("a", b"b"))[:-30], zipped(*((f"{n}", b"x") for n in range(300)))],
    ids=["damaged", "cut", "crowded"],
)
def test_a_zip_that_cannot_be_read_is_refused(upload: Upload, sender: Sender, body: bytes) -> None:
    assert sender.post(upload, body, "application/zip").status_code == 422
    assert not Attachment.objects.exists()


def test_an_entry_packed_in_an_odd_way_is_refused_by_itself(upload: Upload, sender: Sender) -> None:
    body = zipped(("a.log", b"a"), method=zipfile.ZIP_BZIP2)
    assert refusals(sender.post(upload, body, "application/zip")) == {"a.log": "archive_method"}
