"""The steps on the setup page and in the docs are the same text."""

import html
import re

import pytest
from django.template.loader import render_to_string
from django.test import Client

from dashboard.web.project.setup import CI_STEPS, SCOPES, CiSteps
from ingest.models import Token
from tests.conftest import ROOT
from tests.web.test_pages import at, text_of

ADDRESS = "$FLAKEBOARD_URL/api/v1/projects/my-project/uploads"


def steps_of(template: str) -> str:
    """The code of a template, as a person would copy it."""
    rendered = render_to_string(template, {"address": ADDRESS, "forloop": {"counter": 1}})
    return html.unescape(re.search(r"<pre[^>]*>(.*?)</pre>", rendered, re.DOTALL)[1])


each_ci = pytest.mark.parametrize("ci", CI_STEPS, ids=lambda ci: ci.file)


@each_ci
def test_docs_and_page_agree(ci: CiSteps) -> None:
    docs = (ROOT / "docs" / "uploading.md").read_text()
    assert f"## {ci.name}\n" in docs
    assert steps_of(ci.curl) in docs


@each_ci
def test_no_step_lets_a_branch_name_run_or_name_a_file(ci: CiSteps) -> None:
    steps = steps_of(ci.curl)
    assert [form for form in re.findall(r"(?:-F|--form) (\S+)", steps) if not form.startswith("file=@")] == []
    script = steps.partition("run: |")[2] if "run: |" in steps else ""
    assert "${{" not in script


@each_ci
def test_the_client_is_shown_for_each_ci_beside_curl_and_its_page_exists(page: Client, ci: CiSteps) -> None:
    shown = html.unescape(text_of(page, at("setup")))
    fold = shown.split(f"<summary>{ci.name}</summary>")[1].split("</details>")[0]
    client, curl = fold.split("Without it, by curl")
    assert "/client/flakeboard.pyz" in client and "flakeboard.pyz run -- pytest" in client
    assert "FLAKEBOARD_PROJECT" in client and "shop" in client
    assert "api/v1/projects/shop/uploads" in curl
    assert page.get(f"/docs/{ci.page}").status_code == 200
    copied = set(re.findall(r'data-copy="([^"]+)"', fold))
    assert copied == set(re.findall(r'<pre[^>]* id="([^"]+)"', fold)) and len(copied) == 2


def test_every_scope_can_be_chosen_and_is_explained(page: Client) -> None:
    shown = html.unescape(text_of(page, at("setup")))
    assert set(SCOPES) == set(Token.Scope)
    for scope, told in SCOPES.items():
        assert f'<option value="{scope.value}"' in shown
        assert f"<code>{scope.value}</code>" in shown and told[1:] in shown
