"""Badges: the analysis's numbers as pictures, for who may see them."""

from xml.etree import ElementTree

import pytest
from django.test import Client

from dashboard.web.project.badges import svg
from ingest.models import Token
from ingest.services import project_create, token_create
from tests.web.analysed_project import Demo


def said(content: bytes) -> str:
    return ElementTree.fromstring(content).attrib["aria-label"]


def by_token(text: str) -> dict[str, str]:
    return {"authorization": f"Bearer {text}"}


def test_badges_say_what_the_api_says(demo: Demo, reader: Client) -> None:
    told = demo.api.read("analyses/current")["analysis"]
    runs = told["runs"]
    share = f"{runs['flaky'] / runs['total'] * 100:.1f}".removesuffix(".0")
    flaky, flaky_runs = (reader.get(demo.at("badge", name)) for name in ("flaky", "flaky-runs"))
    assert said(flaky.content) == f"flaky tests: {told['states']['flaky']}"
    assert said(flaky_runs.content) == f"runs failed by flakiness: {share} % of {runs['total']}"
    assert flaky.headers["Content-Type"] == "image/svg+xml"


def test_a_project_without_an_analysis_has_badges_too(demo: Demo, reader: Client) -> None:
    project_create(slug="new", name="New")
    assert said(reader.get("/projects/new/badges/flaky.svg").content) == "flaky tests: no analysis"


def test_what_is_known_is_not_sent_again(demo: Demo, reader: Client) -> None:
    first = reader.get(demo.at("badge", "flaky"))
    etag = first.headers["ETag"]
    again = reader.get(demo.at("badge", "flaky"), headers={"if-none-match": etag})
    assert (again.status_code, again.content, again.headers["ETag"]) == (304, b"", etag)
    assert reader.get(demo.at("badge", "flaky-runs"), headers={"if-none-match": etag}).status_code == 200
    assert "private" in first.headers["Cache-Control"]
    assert {"Authorization", "Cookie"} <= {one.strip() for one in first.headers["Vary"].split(",")}


@pytest.mark.parametrize("page", ["badge", "feed"])
def test_who_is_let_in(demo: Demo, page: str) -> None:
    address = demo.at("badge", "flaky") if page == "badge" else demo.at("flaky_feed")
    other = project_create(slug="other", name="Other")
    _, others = token_create(project=other, name="x", scope=Token.Scope.READ)
    stranger = Client()
    assert stranger.get(address, headers=by_token(demo.read_token)).status_code == 200
    assert stranger.get(address).status_code == 401
    assert stranger.get(address, headers=by_token("flk_read_wrong")).status_code == 401
    assert stranger.get(address, headers=by_token(others)).status_code == 404
    leaked = stranger.get(address, {"token": demo.read_token})
    assert leaked.status_code == 400
    assert demo.read_token not in leaked.content.decode()


def test_an_unknown_badge_is_not_found(demo: Demo, reader: Client) -> None:
    assert reader.get(demo.at("badge", "nothing")).status_code == 404


def test_text_in_a_badge_is_escaped() -> None:
    hostile = "</text><script>alert(1)</script>\"'&"
    tree = ElementTree.fromstring(svg(hostile, hostile, "#000"))
    assert not list(tree.iter("{http://www.w3.org/2000/svg}script"))
    assert hostile in "".join(tree.itertext())
