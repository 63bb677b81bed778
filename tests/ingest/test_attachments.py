"""What an attachment is, by its bytes, and which failures mention it."""

import io
import struct
import zlib
from itertools import pairwise

import pytest

from ingest.attachments.kinds import PICTURES, Kind, file_name, is_text, kind_of, picture_size, picture_type
from ingest.attachments.names import LONGEST, attachment_name, is_same_file, marks_in
from ingest.junit.attachment_marks import mark_of
from ingest.junit.upload import read_upload
from tests.client.test_attachments import RED


def png(width: int = 4, height: int = 3) -> bytes:
    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    rows = b"".join(b"\0" + b"\x20\x80\xc0" * width for _ in range(height)) if width * height < 10**6 else b""
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")


JPEG = b"\xff\xd8\xff\xe0\x00\x10JFIF" + bytes(10) + b"\xff\xc0\x00\x11\x08\x00\x07\x00\x09\x03" + bytes(20)
GIF = b"GIF89a" + struct.pack("<HH", 9, 7) + bytes(20)
WEBP = b"RIFF" + bytes(4) + b"WEBPVP8X" + bytes(8) + b"\x08\0\0\x06\0\0" + bytes(10)
SVG = b'<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>'
HTML = b"<!doctype html><script>alert(1)</script>"


@pytest.mark.parametrize(
    ("content", "kind", "size"),
    [
        (png(), Kind.PNG, (4, 3)),
        (JPEG, Kind.JPEG, (9, 7)),
        (GIF, Kind.GIF, (9, 7)),
        (WEBP, Kind.WEBP, (9, 7)),
        (b"\x89PNG\r\n\x1a\n" + HTML, Kind.PNG, None),
        (b"GIF89a", Kind.GIF, None),
        (b"\xff\xd8\xff\xfe\x00\x00" * 3, Kind.JPEG, None),
        (b"RIFF\0\0\0\0WEBPJUNK", Kind.WEBP, None),
        (SVG, Kind.TEXT, None),
        (HTML, Kind.TEXT, None),
        (b"PK\x03\x04", Kind.ZIP, None),
        (b"\0\0\0\x18ftypmp42", Kind.MP4, None),
        (b"\x1a\x45\xdf\xa3", Kind.WEBM, None),
        (b"%PDF-1.7", Kind.PDF, None),
        (b"\x1b[31mred\x1b[0m \xe2\x82", Kind.TEXT, None),
        (b"MZ\x90\0\x03", None, None),
        (b"\x7fELF\x02\x01\x01\0", None, None),
        (b"caf\xe9 au lait", None, None),
    ],
)
def test_a_file_is_what_its_bytes_say(content: bytes, kind: Kind | None, size: tuple[int, int] | None) -> None:
    assert (kind_of(content), picture_size(content)) == (kind, size)


def test_no_browser_takes_a_download_for_a_page() -> None:
    assert {picture_type(kind) for kind in PICTURES} == {"image/png", "image/jpeg", "image/gif", "image/webp"}
    with pytest.raises(ValueError, match="text"):
        picture_type(Kind.TEXT)
    assert [file_name(name, Kind.TEXT) for name in ("a/b/run.LOG", "page.html", "x.svg")] == [
        "run.LOG",
        "page.html.txt",
        "x.svg.txt",
    ]


def test_text_may_be_cut_between_the_bytes_of_a_letter() -> None:
    text = "é€😀".encode() * 3
    assert all(is_text(text[:end]) for end in range(len(text)))
    assert not is_text(b"\x80abc") and not is_text(b"\xe2\x82x")


@pytest.mark.parametrize(
    ("written", "name"),
    [
        ("test-results/a/test-failed-1.png", "test-results/a/test-failed-1.png"),
        ("../../../etc/passwd", "etc/passwd"),
        ("/home/runner/work/shop/out.png", "home/runner/work/shop/out.png"),
        ("C:\\work\\out\\..\\a.png", "work/out/a.png"),
        ("..", ""),
        ("a\0b\r\n\x1b.png", "ab.png"),
        ("\u202egnp.exe", "gnp.exe"),
        ("x" * 900 + "/a.png", ("x" * 900 + "/a.png")[-LONGEST:]),
    ],
)
def test_a_name_leads_nowhere(written: str, name: str) -> None:
    assert attachment_name(written) == name


def test_marks_are_found_and_written_alike() -> None:
    text = "before\n[[ATTACHMENT|a/b.png]]\n[[ATTACHMENT|/root/c.log]] [[ATTACHMENT|]] [[ATTACHMENT|a/b.png]]"
    assert marks_in(text) == ["a/b.png", "root/c.log"]
    assert marks_in(mark_of("odd]]name\n.png")) == ["odd__name_.png"]
    assert len(marks_in("[[ATTACHMENT|x]]\n" * 10**5)) == 1


def test_a_file_is_known_by_the_end_of_its_path() -> None:
    assert is_same_file("home/ci/shop/out/a.png", "out/a.png") and is_same_file("a.png", "out/a.png")
    assert not any(is_same_file(*pair) for pair in pairwise(("out/a.png", "out/b.png", "xout/b.png", "b.png.txt")))


def test_the_reader_keeps_what_the_client_finds() -> None:
    """Both read the same report: what one sends, the other must know where to show."""
    (report,) = read_upload([("report.xml", io.BytesIO(RED.encode()))]).reports
    output = "".join(attempt.system_out for attempts in report.attempts.values() for attempt in attempts)
    assert all(f"[[ATTACHMENT|{name}]]" in output for name in ("shots/a&b.png", "flaky.png", "logs/named.log"))
