"""The section of a test's page: its first sentence is the answer, and without traces it says how to get them."""

from __future__ import annotations

import html
import re

import pytest
from django.contrib.auth.models import User
from django.test import Client

from analytics.services import analysis_refresh
from analytics.why.services import differences_refresh
from dashboard.templatetags.flakeboard import with_code
from ingest.models import Project, Run, Trace
from tests.api_client import Program
from tests.lab.why.answers import ANSWER, SHOWN
from tests.lab.why.test_findings import FIRST, number
from tests.lab.why.traced import project, traced
from tests.lab.why.uploads import TEST, send_runs
from tests.people.signed_in import browser_of, member

__all__ = ["project", "traced"]


@pytest.fixture
def browser(project: Project) -> Client:
    return browser_of(member(User.objects.create_user("anna"), project))


def page(browser: Client, address: str) -> str:
    answer = browser.get(f"/projects/shop/{address}")
    assert answer.status_code == 200
    return answer.content.decode()


def section(browser: Client) -> str:
    found = re.search(r'<details class="card fb-section" id="differences".*?(?=<details class="card fb-section")',
                      page(browser, f"tests/{number()}"), re.DOTALL)  # fmt: skip
    assert found
    return html.unescape(found[0])


def first_sentence(section: str) -> str:
    found = re.search(r'<p class="fb-answer"><strong><bdi>(.*?)</bdi></strong>', section, re.DOTALL)
    assert found
    return re.sub("</?code>", "`", found[1])


@pytest.mark.usefixtures("traced")
def test_the_first_sentence_is_the_answer(project: Project, browser: Client) -> None:
    analysis_refresh(project=project)
    differences_refresh(project_id=project.pk)
    shown = section(browser)
    assert first_sentence(shown) == FIRST
    assert "6 failing and 14 passing executions" in shown and "differences-chart" in shown
    assert "separates" in shown and "not yet" in shown and f"flakeboard why {TEST}" in shown
    assert "Wait for the event by a callback" in shown, "the remedy of its category"


@pytest.mark.usefixtures("traced")
def test_without_traces_two_lines_bring_them(project: Project, browser: Client) -> None:
    Trace.objects.all().delete()
    analysis_refresh(project=project)
    shown = section(browser)
    assert first_sentence(shown) == "It has not been traced." and "not traced yet" in shown
    assert shown.count('class="fb-command"') == 2 and "--flakeboard-trace=flaky" in shown


@pytest.mark.usefixtures("traced")
def test_what_was_shown_comes_with_its_recipe(project: Project, browser: Client, upload_token: str) -> None:
    analysis_refresh(project=project)
    differences_refresh(project_id=project.pk)
    program = Program(upload_token)
    program.post("experiments", key="w1", protocol="why", parameters={"test": TEST}, whole=False)
    program.post("experiments/w1/finish", **ANSWER)
    shown = section(browser)
    assert first_sentence(shown) == SHOWN
    assert "--flakeboard-recipe=why-test_total.json" in shown and 'data-copy="recipe-command"' in shown
    assert "forced: 10 of 10" in " ".join(shown.split())
    experiment = html.unescape(page(browser, "experiments/w1"))
    assert html.unescape(with_code(SHOWN)) in experiment and "nothing" in experiment and "5 of 25" in experiment


def test_a_run_links_the_traces_of_its_failing_tests(project: Project, browser: Client) -> None:
    send_runs(project, failing=2, passing=3)
    analysis_refresh(project=project)
    failing = Run.objects.order_by("placed_at")[0]
    shown = page(browser, f"runs/{failing.pk}")
    assert f"/projects/shop/tests/{number()}#differences" in shown


def test_names_of_code_are_code_and_everything_else_is_text() -> None:
    assert with_code("`a<b>` was <i>") == "<code>a&lt;b&gt;</code> was &lt;i&gt;"
    assert with_code("one ` alone") == "one ` alone"
