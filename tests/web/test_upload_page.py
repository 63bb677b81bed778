"""The page of an upload: its ledger says what became of everything that was sent."""

from html import unescape

from django.test import Client

from ingest.models import Upload
from tests.conftest import Send

REPORT = b"<testsuite name='s' failures='2'><testcase classname='c' name='t'><failure/></testcase></testsuite>"


def page_of(page: Client, upload: Upload) -> str:
    response = page.get(f"/projects/shop/uploads/{upload.pk}")
    assert response.status_code == 200
    return " ".join(unescape(response.content.decode()).split())


def test_the_ledger_counts_all_and_shows_each_thing_that_was_not_understood(page: Client, send: Send) -> None:
    shown = page_of(page, send(("a.xml", REPORT), ("b.log", b"well\n"), ("c.xml", b"<unheard-of/>"), build_id="1"))
    assert "1 file read · 1 known not to be test results · <strong>1 not understood</strong>" in shown
    assert "<strong>1 thing inside files not understood</strong>" in shown
    assert "failures and errors: 2 counted, 1 read." in shown
    assert "The gate holds a red build" in shown
    assert shown.index("c.xml") < shown.index("b.log"), "what was not understood comes first"


def test_a_ledger_in_which_all_is_understood_says_so(page: Client, send: Send) -> None:
    shown = page_of(page, send(("a.xml", REPORT.replace(b"'2'", b"'1'")), build_id="1"))
    assert "1 file read · 0 known not to be test results · 0 not understood." in shown
    assert "The gate holds" not in shown


def test_what_the_sender_could_not_send_is_in_the_ledger(page: Client, send: Send) -> None:
    shown = page_of(page, send(("a.xml", REPORT), build_id="1", unsent=("b.xml cannot be opened.",)))
    assert "not sent</span> <bdi>b.xml cannot be opened.</bdi>" in shown
