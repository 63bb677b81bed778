"""The Atom feed of flaky tests."""

from html import unescape
from xml.etree import ElementTree

from django.test import Client

from dashboard.web.project.feed import ENTRIES
from ingest.models import Test
from ingest.services import project_create
from tests.web.analysed_project import HOSTILE, Demo

ATOM = "{http://www.w3.org/2005/Atom}"


def entries(client: Client, address: str) -> list[ElementTree.Element]:
    response = client.get(address)
    assert response.status_code == 200
    assert response.headers["Content-Type"].startswith("application/atom+xml")
    return ElementTree.fromstring(response.content).findall(f"{ATOM}entry")


def text(entry: ElementTree.Element, name: str) -> str:
    return entry.findtext(f"{ATOM}{name}") or ""


def test_it_holds_the_flaky_tests_newest_first(demo: Demo, reader: Client) -> None:
    found = entries(reader, demo.at("flaky_feed"))
    said = demo.api.read(f"tests?state=flaky&sort=-flaky_since&page_size={ENTRIES}")["results"]
    links = [one.find(f"{ATOM}link").attrib["href"] for one in found]  # type: ignore[union-attr]
    assert [int(link.rsplit("/", 1)[1]) for link in links] == [one["number"] for one in said]
    assert text(found[0], "updated").replace("+00:00", "Z") == said[0]["flaky_since"]
    assert f"Failed {said[0]['failed']} of {said[0]['executed']} runs" in text(found[0], "summary")


def test_an_entry_keeps_its_id_between_readings(demo: Demo, reader: Client) -> None:
    once, twice = ([text(entry, "id") for entry in entries(reader, demo.at("flaky_feed"))] for _ in range(2))
    assert once == twice
    assert len(set(once)) == len(once)


def test_names_are_text_in_titles_and_summaries(demo: Demo, reader: Client) -> None:
    Test.objects.filter(project=demo.project).update(classname="<img src=x onerror=alert(1)>")
    found = entries(reader, demo.at("flaky_feed"))
    assert f"{HOSTILE[0]} is flaky" in [text(one, "title") for one in found]
    summary = text(found[0], "summary")
    assert "<img" not in summary, "a summary is HTML: a reader would run it"
    assert "<img src=x" in unescape(summary)


def test_characters_that_xml_cannot_hold_do_not_break_it(demo: Demo, reader: Client) -> None:
    Test.objects.filter(project=demo.project).update(name="a\x01b\x1b[31mc\ufffe")
    assert {text(entry, "title") for entry in entries(reader, demo.at("flaky_feed"))} == {"a␁bc\ufffd is flaky"}


def test_a_feed_without_an_analysis_is_empty(demo: Demo, reader: Client) -> None:
    project_create(slug="new", name="New")
    assert entries(reader, "/projects/new/flaky.atom") == []
