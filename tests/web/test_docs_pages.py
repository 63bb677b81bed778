"""The documentation as pages, and the help that leads there."""

import re

import pytest
from django.template import Context, Template
from django.test import Client, RequestFactory

from dashboard.web import docs
from dashboard.web.glossary import HELPS
from tests.conftest import ROOT


def read(client: Client, address: str) -> str:
    response = client.get(address)
    assert response.status_code == 200, address
    return response.content.decode()


def test_every_document_is_a_page_and_in_the_contents(client: Client) -> None:
    contents = read(client, "/docs/")
    for path in (ROOT / "docs").rglob("*.md"):
        name = path.relative_to(ROOT / "docs").as_posix().removesuffix(".md").removesuffix("/README")
        shown = read(client, f"/docs/{name}")
        assert path.read_text().split("\n", 1)[0].removeprefix("# ").replace("`", "") in shown
        assert "&lt;!--" not in shown, "marks of figures are not for readers"
        assert f'href="/docs/{name}"' in contents


def test_the_steps_of_each_ci_are_pages_below_the_one_that_lists_them(client: Client) -> None:
    assert 'href="/docs/ci/gitlab"' in read(client, "/docs/ci")
    assert 'href="/docs/ci#merge-queues"' in read(client, "/docs/ci/github-actions")


def test_links_between_documents_lead_to_pages_that_exist(client: Client) -> None:
    for name in docs.names():
        shown = read(client, f"/docs/{name}")
        assert ".md" not in "".join(re.findall(r'href="([^"]+)"', shown)), name
        for address, anchor in re.findall(r'href="(/docs/[\w/-]+)?#([\w-]+)"', shown):
            there = read(client, address) if address else shown
            assert anchor == "main" or f'id="{anchor}"' in there, (name, address, anchor)


@pytest.mark.parametrize(
    "name",
    [
        *("nothing", "..", "%2e%2e%2fREADME", "../README", "ci/../../README", "%2fetc%2fpasswd", "/etc/passwd"),
        *("concepts.md", "ci/README", "ci/", "images/run-dark.png"),
    ],
)
def test_nothing_else_is_served(client: Client, name: str) -> None:
    assert client.get(f"/docs/{name}").status_code == 404


def test_html_in_a_document_is_text_and_a_link_out_of_the_folder_is_no_page(
    monkeypatch: pytest.MonkeyPatch, tmp_path
) -> None:
    (tmp_path / "bad.md").write_text("# x\n\n<script>alert(1)</script>\n\n[a](javascript:alert)\n\n## x\n\n## x\n")
    (tmp_path / "out.md").symlink_to(ROOT / "README.md")
    monkeypatch.setattr(docs, "DOCS", tmp_path)
    monkeypatch.setattr(docs, "_files", docs._files.__wrapped__)
    assert set(docs._files()) == {"bad"}
    body = docs.body.__wrapped__("bad")
    assert "<script" not in body
    assert 'href="javascript' not in body
    assert re.findall(r'id="([^"]+)"', body) == ["x", "x-1", "x-2"]


def test_every_help_leads_to_a_place_in_the_concepts() -> None:
    anchors = set(re.findall(r'id="([^"]+)"', docs.body("concepts")))
    assert {anchor for _, anchor in HELPS.values()} <= anchors


def test_a_help_is_on_a_page_once_however_often_it_is_asked_for() -> None:
    request = RequestFactory().get("/")
    twice = Template("{% load flakeboard %}{% help 'rate' %}{% help 'rate' %}{% help 'state' %}")
    shown = twice.render(Context({"request": request}))
    assert shown.count('popovertarget="help-rate"') == 2
    assert shown.count('id="help-rate"') == 1
    assert 'href="/docs/concepts#rate"' in shown


# -- how numbers look --------------------------------------------------------------------------------------------


def shown(source: str, **context: object) -> str:
    made = Template("{% load flakeboard %}" + source).render(Context(context))
    return re.sub(r"<[^>]+>", "", made)


@pytest.mark.parametrize(
    ("minutes", "said"),
    [(None, "–"), (0, "0 min"), (0.5, "30 s"), (2.5, "2.5 min"), (45, "45 min"), (200, "3 h 20 min"), (120, "2 h")],
)
def test_minutes_are_said_in_the_unit_that_fits(minutes: float | None, said: str) -> None:
    assert shown("{{ minutes|spent }}", minutes=minutes) == said


def test_many_hours_are_rounded() -> None:
    assert shown("{{ minutes|spent }}", minutes=100_000) == "1,667 h"


def test_a_rate_has_its_denominator_and_interval() -> None:
    said = shown("{% rate 14 1203 0.0064 0.0195 %}")
    assert said == "14 of 1,203 · 1.2 % (0.64–1.9 %)"


def test_nothing_executed_has_no_rate() -> None:
    assert shown("{% rate 0 0 None None %}") == "not executed"


def test_a_state_is_a_word_and_a_shape() -> None:
    made = Template("{% load flakeboard %}{% state 'flaky' %}").render(Context())
    assert 'href="#mark-flaky"' in made
    assert made.endswith("flaky</span>")
