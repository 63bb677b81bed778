"""One run of a project in which a test is known to be flaky: what failed, and beside what."""

import re
from html import unescape

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from analytics.loaders import Filter
from analytics.models import Analysis
from analytics.services import analysis_refresh
from ingest.models import Project, Rename, Run, Test
from ingest.renames import rename_decide
from tests.conftest import Send
from tests.web.history import known, known_once, project, sent
from tests.web.test_pages import at, text_of
from tests.web.test_run import group_of, lead_of, page_of

__all__ = ["known", "known_once", "project"]


def test_a_red_pull_request_is_explained_before_the_next_analysis(page: Client, send: Send, known: list[Run]) -> None:
    red = sent(send, 20, {"flaky": "the cart is empty", "steady": "2 is not 3"}, "calm", branch="topic")
    shown = page_of(page, red)
    assert lead_of(shown) == "2 of 3 tests failed: 1 is new and needs you, 1 is known flaky."
    assert "It never failed before." in group_of(shown, "new")
    assert "never failed in 12 runs" in group_of(shown, "new")
    assert "failed 2 of 12 runs" in group_of(shown, "flaky")
    assert "came after the last analysis" in shown
    assert shown.index("New failures: look here") < shown.index("Known flaky")


def test_a_flaky_test_with_words_of_its_own_is_said_to_be_so(page: Client, send: Send, known: list[Run]) -> None:
    red = sent(send, 20, {"flaky": "division by zero in a new place"}, "steady calm", branch="topic")
    shown = page_of(page, red)
    assert lead_of(shown) == "1 of 3 tests failed: it is known flaky (1 with an error message never seen before)."
    assert "never failed with this error message before: look at it" in group_of(shown, "flaky")
    again = sent(send, 21, {"flaky": "division by zero in a new place"}, "steady calm", branch="topic")
    assert "never failed with this error message" not in page_of(page, again)


def test_a_test_that_main_broke_is_not_told_as_new(
    page: Client, project: Project, send: Send, known: list[Run]
) -> None:
    first = sent(send, 20, {"steady": "2 is not 3"}, "flaky calm", commit="b" * 40)
    sent(send, 21, {"steady": "2 is not 3"}, "flaky calm", commit="d" * 40)
    topic = sent(send, 22, {"steady": "2 is not 3"}, "flaky calm", branch="topic", commit="e" * 40)
    earlier = sent(send, 19, {"steady": "2 is not 3"}, "flaky calm", branch="topic", commit="f" * 40)
    analysis_refresh(project=project)
    shown = page_of(page, topic)
    assert lead_of(shown) == "1 of 3 tests failed: it was broken on main before."
    assert f"broken on main since commit {'b' * 10} (2 reports in a row)" in group_of(shown, "broken")
    assert at("run", first.pk) in shown
    assert "is new and needs you" in lead_of(page_of(page, first))
    assert "is new and needs you" in lead_of(page_of(page, earlier))


def test_a_report_that_arrives_after_the_analysis_of_its_run_is_judged_by_itself(
    page: Client, project: Project, send: Send, known: list[Run]
) -> None:
    """The analysis knows the run, but not this report: what fails there was not broken before for that."""
    run = sent(send, 20, {}, "flaky calm")
    analysis_refresh(project=project)
    assert sent(send, 20, {"steady": "2 is not 3"}) == run
    assert lead_of(page_of(page, run)) == "1 of 3 tests failed: it is new and needs you."
    analysis_refresh(project=project)
    assert lead_of(page_of(page, run)) == "1 of 3 tests failed: it is new and needs you."


def test_a_run_older_than_the_window_says_so(page: Client, project: Project, send: Send, known: list[Run]) -> None:
    analysis = analysis_refresh(project=project, chosen=Filter(reports=4))
    assert analysis.since > known[0].started_at
    shown = page_of(page, known[0])
    assert "older than what the analysis looked at" in lead_of(shown)
    assert "Today:" in group_of(shown, "unjudged")


def test_a_renamed_test_keeps_what_is_known_of_it(page: Client, project: Project, send: Send, known: list[Run]) -> None:
    red = sent(send, 20, {"flaky": "the cart is empty"}, "steady calm", branch="topic")
    sent(send, 21, {}, "renamed steady calm")
    old, new = Test.objects.get(name="flaky"), Test.objects.get(name="renamed")
    rename, _ = Rename.objects.get_or_create(project=project, old=old, new=new, defaults={"score": 0.9})
    rename_decide(rename=rename, accept=True, user_id=None)
    analysis_refresh(project=project)
    shown = page_of(page, red)
    assert "renamed" in group_of(shown, "flaky")
    assert "failed 3 of 14 runs" in group_of(shown, "flaky")
    case = at("case", red.pk, old.number)
    assert case in shown
    assert "the cart is empty" in text_of(page, case)


def test_the_last_green_run_is_beside_it_with_what_changed(page: Client, send: Send, known: list[Run]) -> None:
    green = known[11]
    red = sent(send, 20, {"added": "no"}, "flaky steady", commit="e" * 40, host="box-9")
    shown = page_of(page, red)
    aside = " ".join(re.sub("<[^>]+>", " ", shown[shown.index("Last green run") :]).split())
    assert at("run", green.pk) in shown
    assert f"{green.commit[:12]} … {'e' * 12}" in aside
    assert "New tests 1 added" in aside
    assert "gone 1 calm" in aside
    assert "box-1 , now box-9" in aside
    assert "The last green run did not have it." in unescape(shown)


def test_a_branch_without_a_green_run_is_compared_with_main(page: Client, send: Send, known: list[Run]) -> None:
    red = sent(send, 20, {"steady": "no"}, "flaky calm", branch="topic")
    assert "this branch had none before" in page_of(page, red)
    other = sent(send, 21, {"steady": "no"}, "flaky calm", environment={"os": "vax"})
    assert "with the same job and environment" in page_of(page, other)


GREEN_ELSEWHERE = {
    "main, after a pull request from a branch of that name": ({}, {"pull_request": "7"}),
    "a pull request, after another from a branch of the same name": (
        {"branch": "fix", "pull_request": "8"}, {"branch": "fix", "pull_request": "7"},
    ),
    "a pull request from a branch called main": ({"pull_request": "8"}, {"pull_request": "7"}),
}  # fmt: skip


@pytest.mark.parametrize(("asked", "between"), GREEN_ELSEWHERE.values(), ids=GREEN_ELSEWHERE)
def test_a_branch_of_another_pull_request_is_not_compared_with(
    page: Client, send: Send, known: list[Run], asked: dict[str, str], between: dict[str, str]
) -> None:
    other = sent(send, 20, {}, "flaky steady calm", **between)
    shown = page_of(page, sent(send, 21, {"steady": "no"}, "flaky calm", **asked))
    aside = shown[shown.index("Last green run") :]
    assert at("run", known[11].pk) in aside
    assert at("run", other.pk) not in aside
    assert ("this branch had none before" in aside) == bool(asked)


def test_a_pull_request_is_compared_with_its_own_green_run(page: Client, send: Send, known: list[Run]) -> None:
    green = sent(send, 20, {}, "flaky steady calm", pull_request="7")
    aside = page_of(page, sent(send, 21, {"steady": "no"}, "flaky calm", pull_request="7"))
    assert at("run", green.pk) in aside[aside.index("Last green run") :]
    assert "this branch had none before" not in aside


def test_failing_tests_are_exported_with_their_group(page: Client, send: Send, known: list[Run]) -> None:
    red = sent(send, 20, {"flaky": "the cart is empty", "steady": "=1+1"}, "calm", branch="topic")
    rows = page.get(at("run", red.pk), {"format": "json"}).getvalue().decode()
    assert '"group": "new"' in rows
    assert '"name": "flaky"' in rows
    assert "'=1+1" in page.get(at("run", red.pk), {"format": "csv"}).getvalue().decode()


@pytest.mark.parametrize("tests", [1, 60])
def test_queries_of_a_run_do_not_grow_with_its_tests(
    page: Client, project: Project, send: Send, tests: int, known: list[Run]
) -> None:
    red = sent(send, 20, {f"t{i}": "no" for i in range(tests)} | {"flaky": "the cart is empty"}, "steady")
    assert Analysis.objects.filter(project=project, current=True).exists()
    page_of(page, red)
    with CaptureQueriesContext(connection) as queries:
        page_of(page, red)
    assert len(queries) <= 39, [query["sql"][:90] for query in queries]
