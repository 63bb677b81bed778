"""Documents that attack the XML reader: each is refused or read, in bounded time and memory, and the next one is read."""

import codecs
import gzip
import socket
from pathlib import Path

import pytest
from django.test import Client

from ingest.junit.limits import Limits
from ingest.junit.problems import Refused
from ingest.models import Run, Upload
from ingest.processing import upload_process
from tests.database_text import whole_database
from tests.hostile.archives import sixty_four_megabytes
from tests.hostile.measuring import read_in_child, written
from tests.ingest.junit.reading import case, read, refusal, upload

SMALL = (
    '<?xml version="1.0" encoding="utf-8"?>\n<testsuites>\n <testsuite name="s" tests="3">\n'
    '  <testcase classname="c" name="grün" time="0.5"/>\n'
    '  <testcase classname="c" name="rot" time="1"><failure message="m">text</failure></testcase>\n'
    '  <testcase classname="c" name="blau"><skipped/></testcase>\n </testsuite>\n</testsuites>\n'
)


# -- document types and entities ---------------------------------------------------------------------------------

LAUGHS = "".join(f'<!ENTITY l{level} "{f"&l{level - 1};" * 10}">' for level in range(1, 12))
DOCTYPES = {
    "billion laughs": f'<!DOCTYPE testsuite [<!ENTITY l0 "ha">{LAUGHS}]><testsuite name="&l11;"/>',
    "quadratic entities": f'<!DOCTYPE x [<!ENTITY a "{"a" * 100_000}">]><testsuite>{"&a;" * 100_000}</testsuite>',
    "external entity": '<!DOCTYPE x [<!ENTITY e SYSTEM "file:///etc/passwd">]><testsuite><testcase name="&e;"/></testsuite>',
    "external DTD": '<!DOCTYPE testsuite SYSTEM "file:///etc/passwd"><testsuite><testcase name="a"/></testsuite>',
    "public DTD": '<!DOCTYPE testsuite PUBLIC "-//x" "file:///etc/passwd"><testsuite><testcase name="a"/></testsuite>',
    "parameter entity": '<!DOCTYPE x [<!ENTITY % p SYSTEM "file:///etc/passwd"> %p;]><testsuite/>',
    "bare": "<!DOCTYPE testsuite><testsuite><testcase name='a'/></testsuite>",
    "behind a comment": "<?xml version='1.0'?><!-- x --><!DOCTYPE testsuite [<!ENTITY a 'b'>]><testsuite name='&a;'/>",
    "default attribute": "<!DOCTYPE x [<!ATTLIST testcase name CDATA 'given'>]><testsuite><testcase/></testsuite>",
}


@pytest.mark.parametrize("document", DOCTYPES.values(), ids=DOCTYPES)
def test_every_doctype_is_refused_at_once(document: str, tmp_path: Path) -> None:
    measured = read_in_child(written(tmp_path, document.encode()), seconds=1)
    assert measured.code == "doctype"
    assert measured.grown < 50


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-be", "utf-16-le"])
def test_a_doctype_in_another_encoding_is_refused(encoding: str) -> None:
    assert refusal(DOCTYPES["external entity"].encode(encoding)).code == "doctype"


@pytest.mark.django_db
@pytest.mark.parametrize("name", ["external entity", "parameter entity", "external DTD"])
def test_what_a_doctype_names_is_neither_read_nor_asked_for(
    name: str, upload_token: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Through the API to the end, once with a file of the server and once with an address."""
    monkeypatch.setattr(
        "dashboard.api.upload.uploads.wake_worker", lambda upload_id: upload_process(upload_id=upload_id)
    )
    canary = "canary-of-a-file-that-is-nobodys-business"
    (tmp_path / "secret").write_text(canary)
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.setblocking(False)
        for url in (f"file://{tmp_path}/secret", f"http://127.0.0.1:{server.getsockname()[1]}/x"):
            document = DOCTYPES[name].replace("file:///etc/passwd", url)
            assert url in document
            answer = _sent(upload_token, document)
            assert answer.status_code == 422
            assert answer.json()["error"]["code"] == "doctype"
        with pytest.raises(BlockingIOError):
            server.accept()
    stored = whole_database()
    assert Upload.objects.count() == 2 and not Run.objects.exists()
    assert canary not in stored and canary.encode().hex() not in stored


def _sent(token: str, document: str):
    headers = {"Authorization": f"Bearer {token}"}
    url = "/api/v1/projects/shop/uploads?wait=5"
    return Client().post(url, document.encode(), content_type="application/xml", headers=headers)


def test_nothing_is_fetched() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.setblocking(False)
        url = f"http://127.0.0.1:{server.getsockname()[1]}/x"
        for document in (
            f'<!DOCTYPE x SYSTEM "{url}"><testsuite/>',
            f'<!DOCTYPE x [<!ENTITY e SYSTEM "{url}">]><testsuite name="&e;"/>',
            f'<!DOCTYPE x [<!ENTITY % p SYSTEM "{url}"> %p;]><testsuite/>',
        ):
            assert refusal(document).code == "doctype"
        read(
            f'<?xml-stylesheet href="{url}"?><testsuite xmlns:i="http://www.w3.org/2001/XInclude" '
            f'xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xsi:noNamespaceSchemaLocation="{url}">'
            f'<i:include href="{url}"/><testcase name="a"/></testsuite>'
        )
        with pytest.raises(BlockingIOError):
            server.accept()


def test_xinclude_is_inert() -> None:
    include = '<i:include xmlns:i="http://www.w3.org/2001/XInclude" parse="text" href="file:///etc/passwd"/>'
    report = read(f'<testsuite><testcase name="a"><failure>{include}</failure></testcase>{include}</testsuite>')
    assert case(report, "a").attempts[0].failures[0].text == ""


def test_an_undeclared_entity_is_damage_and_not_text() -> None:
    assert refusal('<testsuite><testcase name="&xxe;"/></testsuite>').code == "malformed"


# -- depth and size ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("depth", [300, 100_000])
@pytest.mark.parametrize("tag", ["x", "testsuite", "testcase", "failure", "system-out", "properties"])
def test_deep_nesting_is_refused(tag: str, depth: int, tmp_path: Path) -> None:
    document = f"<testsuite>{f'<{tag}>' * depth}{f'</{tag}>' * depth}</testsuite>"
    measured = read_in_child(written(tmp_path, document.encode()), seconds=2)
    assert measured.code == "too_deep"
    assert measured.grown < 50


def test_deep_nesting_inside_a_case_is_refused() -> None:
    assert refusal(f"<testsuite><testcase name='a'>{'<x>' * 300}").code == "too_deep"


def test_an_attribute_of_200_mb_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "hostile"
    with path.open("wb") as file:
        file.write(b'<testsuite><testcase name="')
        for _ in range(200):
            file.write(b"a" * 1_000_000)
        file.write(b'"/></testsuite>')
    measured = read_in_child(path, seconds=5)
    assert measured.code == "limit_markup"
    assert measured.peak < 600


@pytest.mark.parametrize(
    "start",
    ['<testsuite><testcase name="', "<testsuite><!--", "<testsuite><?x ", "<testsuite><", "<testsuite></", "<!--", "<"],
)
def test_a_gigabyte_of_one_tag_is_refused(start: str, tmp_path: Path) -> None:
    bomb = gzip.compress(start.encode(), mtime=0) + sixty_four_megabytes() * 16
    measured = read_in_child(written(tmp_path, bomb), seconds=5)
    assert measured.code in ("limit_markup", "limit_ratio", "malformed")
    assert measured.peak < 600


@pytest.mark.parametrize("start", ["", "<![CDATA["], ids=["text", "CDATA"])
def test_a_gigabyte_of_text_is_stopped(start: str, tmp_path: Path) -> None:
    opened = gzip.compress(f"<testsuite><testcase name='a'><failure>{start}".encode(), mtime=0)
    measured = read_in_child(written(tmp_path, opened + sixty_four_megabytes() * 16), seconds=5)
    assert measured.code in ("limit_ratio", "limit_markup")
    assert measured.grown < 150


def test_twenty_megabytes_of_honest_output_in_a_cdata_section_are_read() -> None:
    output = "a line of a log\n" * 1_250_000
    report = read(f"<testsuite><testcase name='a'><system-out><![CDATA[{output}]]></system-out></testcase></testsuite>")
    assert report.counts()["passed"] == 1


def test_100_000_attributes_are_refused(tmp_path: Path) -> None:
    attributes = " ".join(f'a{index}="v"' for index in range(100_000))
    for tag in ("testcase", "testsuite", "x"):
        path = tmp_path / tag
        path.write_text(f"<testsuites><{tag} {attributes}/></testsuites>")
        measured = read_in_child(path, seconds=1)
        assert measured.code == "limit_attributes"


def test_100_000_namespaces_are_refused_or_inert(tmp_path: Path) -> None:
    spaces = " ".join(f'xmlns:a{index}="u{index}"' for index in range(100_000))
    measured = read_in_child(
        written(tmp_path, f"<testsuite {spaces}><testcase name='a'/></testsuite>".encode()), seconds=5
    )
    assert measured.grown < 150


# -- characters --------------------------------------------------------------------------------------------------

FORBIDDEN = {
    "NUL": b"\0",
    "reference to NUL": b"&#0;",
    "hexadecimal reference to NUL": b"&#x0;",
    "backspace": b"\x08",
    "reference to backspace": b"&#8;",
    "surrogate as UTF-8": b"\xed\xa0\x80",
    "reference to a surrogate": b"&#xD800;",
    "a pair of surrogate references": b"&#xD83D;&#xDE00;",
    "lone continuation": b"\x80",
    "overlong slash": b"\xc0\xaf",
    "above Unicode": b"\xf4\x90\x80\x80",
    "reference above Unicode": b"&#x110000;",
    "not a character": b"\xef\xbf\xbf",
    "a cut character": b"\xc3",
}


@pytest.mark.parametrize("bad", FORBIDDEN.values(), ids=FORBIDDEN)
def test_forbidden_characters_are_removed_and_marked(bad: bytes) -> None:
    report = read(
        b'<testsuite><testcase name="a' + bad + b'b"><failure>x' + bad + b"y</failure></testcase></testsuite>"
    )
    (name,) = [key[2] for key in report.keys]
    assert name.replace("\ufffd", "") == "ab"
    assert case(report, name).attempts[0].failures[0].text.replace("\ufffd", "") == "xy"
    assert "repaired" in report.warnings
    assert not report.partial


@pytest.mark.parametrize("bad", FORBIDDEN.values(), ids=FORBIDDEN)
def test_forbidden_characters_in_a_tag_are_refused_or_removed(bad: bytes) -> None:
    document = b"<testsuite><test" + bad + b'case name="a"/></testsuite>'
    try:
        read(document)
    except Refused as refused:
        assert refused.line == 1
        assert refused.column


def test_a_forbidden_character_on_every_boundary_of_chunks_is_removed() -> None:
    for reference in (b"&#0;", b"&#x0;", b"\xed\xa0\x80", b"\x08"):
        for before in range(131_072 - 64, 131_072 - 40):
            document = (
                b"<testsuite><testcase name='a'><failure>"
                + b"x" * before
                + reference
                + b"</failure></testcase></testsuite>"
            )
            report = read(document)
            assert "repaired" in report.warnings
            assert not report.partial


# -- encodings ---------------------------------------------------------------------------------------------------


def without_declaration() -> str:
    return SMALL.split("\n", 1)[1]


SAME = {
    "UTF-8 BOM": codecs.BOM_UTF8 + SMALL.encode(),
    "UTF-16 little-endian BOM": codecs.BOM_UTF16_LE + SMALL.replace("utf-8", "utf-16").encode("utf-16-le"),
    "UTF-16 big-endian BOM": codecs.BOM_UTF16_BE + SMALL.replace("utf-8", "utf-16").encode("utf-16-be"),
    "UTF-16 that says UTF-8": codecs.BOM_UTF16_LE + SMALL.encode("utf-16-le"),
    "UTF-16 little-endian without BOM": without_declaration().encode("utf-16-le"),
    "UTF-16 big-endian without BOM": without_declaration().encode("utf-16-be"),
    "UTF-8 that says UTF-16": SMALL.replace("utf-8", "utf-16").encode(),
    "leading blank lines": b"\r\n\n \t" + SMALL.encode(),
    "blank lines behind a BOM": codecs.BOM_UTF8 + b"\n\n" + SMALL.encode(),
    "a megabyte of leading blanks": b" \n" * 500_000 + SMALL.encode(),
    "Latin-1": SMALL.replace("utf-8", "iso-8859-1").encode("latin-1"),
    "Windows": SMALL.replace("utf-8", "windows-1252").encode("cp1252"),
    "GB18030": SMALL.replace("utf-8", "gb18030").encode("gb18030"),
}


@pytest.mark.parametrize("document", SAME.values(), ids=SAME)
def test_every_encoding_reads_as_the_same_report(document: bytes) -> None:
    report, same = read(SMALL), read(document)
    assert (same.keys, same.verdicts, same.partial) == (report.keys, report.verdicts, False)


@pytest.mark.parametrize(
    "document",
    [
        codecs.BOM_UTF16_LE + (" " * 100_000 + SMALL).encode("utf-16-le"),
        (b" " * 200_000 + SMALL.encode()).replace(b"text", b"te\x08xt"),
    ],
    ids=["UTF-16", "repaired"],
)
def test_a_chunk_of_leading_blanks_changes_nothing(document: bytes) -> None:
    assert read(document).counts() == read(SMALL).counts()


@pytest.mark.parametrize(
    "encoding",
    ["utf-7", "UTF-7", "utf-32", "hex", "rot13", "idna", "punycode", "unicode_escape", "raw_unicode_escape", "zlib"]
    + ["bz2", "cp037", "hz", "iso2022_jp", "undefined", "mbcs", "no-such", "..", "os.path", "a" * 40, "utf-8-sig"],
)
def test_odd_encodings_are_refused_by_name(encoding: str) -> None:
    refused = refusal(f'<?xml version="1.0" encoding="{encoding}"?><testsuite><testcase name="a"/></testsuite>')
    assert refused.code == "encoding"
    assert encoding in refused.sentence


def test_utf_7_script_is_not_decoded() -> None:
    report = read("<testsuite><testcase name='+ADw-script+AD4-'/></testsuite>")
    assert report.keys[0][2] == "+ADw-script+AD4-"


@pytest.mark.parametrize("encoding", ["utf-32", "utf-32-be", "cp037", "cp500"])
def test_documents_in_odd_encodings_are_refused(encoding: str) -> None:
    assert refusal(without_declaration().encode(encoding)).code in ("encoding", "not_xml", "malformed", "empty")


# -- not one JUnit document --------------------------------------------------------------------------------------

NOT_JUNIT = {
    "nothing": (b"", "empty"),
    "blank": (b" \n\t\r\n", "empty"),
    "only a BOM": (codecs.BOM_UTF8, "empty"),
    "only a UTF-16 BOM": (codecs.BOM_UTF16_LE, "empty"),
    "megabytes of blanks": (b" " * 3_000_000, "empty"),
    "only a declaration": (b'<?xml version="1.0"?>', "malformed"),
    "HTML": (b"<!DOCTYPE html><html><body>502 Bad Gateway</body></html>", "html_page"),
    "HTML without doctype": (b"<html><head><title>Sign in</title><meta></head></html>", "html_page"),
    "upper-case HTML": (b"<HTML><BODY>no</HTML>", "html_page"),
    "binary behind": (b"<testsuite><testcase name='a'/></testsuite>" + bytes(9), "two_roots"),
    "JSON": (b'{"numTotalTests": 3}', "other_format"),
    "a version of TAP": (b"TAP version 13\n", "malformed"),
    "TRX": (b"<TestRun id='1'/>", "other_format"),
    "NUnit 2": (b"<test-results name='x'/>", "other_format"),
    "coverage": (b"<coverage/>", "not_results"),
    "SVG": (b"<svg xmlns='http://www.w3.org/2000/svg'><script/></svg>", "other_xml"),
    "a long root": (b"<" + b"a" * 40_000 + b"/>", "other_xml"),
    "bzip2": (b"BZh91AY&SY", "archive_damaged"),
    "xz": (b"\xfd7zXZ\0", "archive_damaged"),
    "PDF": (b"%PDF-1.7", "other_format"),
    "text": (b"no tests were run", "not_results"),
    "random": (bytes(range(128, 256)) * 100, "not_xml"),
    "NULs": (bytes(100_000), "not_xml"),
}


@pytest.mark.parametrize(("document", "code"), NOT_JUNIT.values(), ids=NOT_JUNIT)
def test_what_is_not_junit_is_refused_by_name(document: bytes, code: str) -> None:
    reading = upload(document)
    assert reading.files[0]["error"]["code"] == code  # type: ignore[index]
    assert not reading.report.keys


# -- truncated ---------------------------------------------------------------------------------------------------


def complete_cases(document: str, end: int) -> list[str]:
    """The names of cases that are complete before `end`, or whose failure is."""
    ends = {"grün": '0.5"/>', "rot": "</failure>", "blau": "<skipped/></testcase>"}
    return [name for name, text in ends.items() if document.index(text) + len(text) <= end]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
def test_a_file_cut_anywhere_keeps_what_was_complete(encoding: str) -> None:
    document = SMALL.replace("utf-8", encoding)
    for end in range(len(document.rstrip())):
        kept = complete_cases(document, end)
        try:
            report = read(document[:end].encode(encoding))
        except Refused as refused:
            assert not kept, end
            assert refused.code in ("empty", "malformed", "not_xml", "other_xml"), end
        else:
            assert [key[2] for key in report.keys] == kept, end
            assert report.partial, end
            assert "partial" in report.warnings, end


def test_a_file_cut_at_any_byte_is_partial_or_refused() -> None:
    content = SMALL.encode().rstrip()
    for end in range(len(content)):
        (file,) = upload(content[:end]).files
        assert file["partial"] or file["error"], end


def test_a_compressed_file_cut_at_any_byte_is_partial_or_refused() -> None:
    content = gzip.compress(SMALL.encode(), mtime=0)
    for end in range(len(content)):
        for file in upload(content[:end]).files:
            assert file["partial"] or file["error"], end


def test_a_cut_file_never_has_a_reliable_order() -> None:
    document = "<testsuite name='pytest'>" + "".join(f"<testcase classname='c' name='{i}' time='1'/>" for i in range(9))
    assert not read(document).order_reliable


def test_a_cut_file_with_a_namespace_prefix_keeps_what_was_complete() -> None:
    report = read("<j:testsuite xmlns:j='urn:j'><j:testcase name='a'/><j:testcase name='b'/><j:test")
    assert report.counts()["tests"] == 2


# -- cases inside cases ------------------------------------------------------------------------------------------


def test_a_failure_behind_a_nested_case_is_not_lost() -> None:
    document = '<testsuite><testcase name="a"><testcase name="b"/><failure message="m"/></testcase></testsuite>'
    try:
        report = read(document)
    except Refused:
        return
    assert report.counts()["failed"] == 1


def test_cases_do_not_nest() -> None:
    document = '<testsuite><testcase name="a"><testcase name="b"/></testcase></testsuite>'
    assert refusal(document).code == "too_deep"


# -- time and memory that grow faster than the file --------------------------------------------------------------

PLAIN = '<testcase classname="c" name="{}" time="1"/>'


def suite_of(*parts: str) -> bytes:
    return f"<testsuite>{''.join(parts)}</testsuite>".encode()


@pytest.mark.parametrize(
    "odd",
    ['<testcase classname="c" name="{}" timf="1"/>', "<testcase classname='c' name='{}' time='1'/>"],
    ids=["other attribute", "other quotes"],
)
def test_odd_cases_behind_a_plain_one_are_read_in_linear_time(odd: str, tmp_path: Path) -> None:
    document = suite_of(PLAIN.format("first"), *map(odd.format, range(10_000)))
    assert read_in_child(written(tmp_path, document), seconds=1).tests == 10_001


def test_tests_named_again_between_others_are_read_in_linear_time(tmp_path: Path) -> None:
    again = (PLAIN.format(i) + f'<testcase classname="d" name="{i}"><skipped/></testcase>' for i in range(10_000))
    document = suite_of(*map(PLAIN.format, range(10_000)), *again)
    assert read_in_child(written(tmp_path, document), seconds=6).tests == 20_000


def test_many_suites_are_read_in_linear_time(tmp_path: Path) -> None:
    document = suite_of(*(f'<testsuite name="s{i}">{PLAIN.format(i)}</testsuite>' for i in range(20_000)))
    assert read_in_child(written(tmp_path, document), seconds=4).tests == 20_000


def test_long_names_of_nested_suites_do_not_add_up(tmp_path: Path) -> None:
    opened = "".join(f'<testsuite name="{i}{"a" * 500_000}">' for i in range(50))
    measured = read_in_child(written(tmp_path, suite_of(opened, PLAIN.format("x"), "</testsuite>" * 50)), seconds=10)
    assert measured.grown < 200


def test_a_million_failures_cost_bounded_memory(tmp_path: Path) -> None:
    cases = (f"<testcase name='{i}'>{'<failure/>' * 100}</testcase>" for i in range(2_000))
    measured = read_in_child(written(tmp_path, suite_of(*cases)), seconds=20)
    assert measured.grown < 100
    assert (
        refusal(suite_of("<testcase name='a'><failure/><failure/></testcase>"), Limits(cases=1)).code == "limit_cases"
    )


def test_text_full_of_references_is_read_in_linear_time(tmp_path: Path) -> None:
    text = "&lt;" * 1_000_000
    document = suite_of(f"<testcase name='a'><failure>{text}</failure><system-out>{text}</system-out></testcase>")
    assert read_in_child(written(tmp_path, document), seconds=10).grown < 100
