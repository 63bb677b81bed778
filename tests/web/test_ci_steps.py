"""The steps on the set-up page and in the docs are the same text."""

import html
import re

import pytest
from django.template.loader import render_to_string

from dashboard.web.setup import CI_STEPS
from tests.conftest import ROOT

ADDRESS = "$FLAKEBOARD_URL/api/v1/projects/my-project/uploads"


def steps_of(template: str) -> str:
    """The code of a template, as a person would copy it."""
    rendered = render_to_string(template, {"address": ADDRESS, "forloop": {"counter": 1}})
    return html.unescape(re.search(r"<pre[^>]*>(.*?)</pre>", rendered, re.DOTALL)[1])


@pytest.mark.parametrize(("name", "template"), CI_STEPS)
def test_docs_and_page_agree(name: str, template: str) -> None:
    docs = (ROOT / "docs" / "uploading.md").read_text()
    assert f"## {name}\n" in docs
    assert steps_of(template) in docs


@pytest.mark.parametrize(("name", "template"), CI_STEPS)
def test_no_step_lets_a_branch_name_run_or_name_a_file(name: str, template: str) -> None:
    steps = steps_of(template)
    assert [form for form in re.findall(r"(?:-F|--form) (\S+)", steps) if not form.startswith("file=@")] == []
    script = steps.partition("run: |")[2] if "run: |" in steps else ""
    assert "${{" not in script
