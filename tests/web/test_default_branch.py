"""Which branch is the default: CI's word at the first upload, a question later, and settings."""

import pytest
from django.test import Client
from django.urls import reverse

from analytics.runs.elsewhere import Elsewhere, whose_sentence
from dashboard.people.default_branch import branch_question
from ingest.metadata import RunMetadata
from ingest.models import Project, Run
from tests.conftest import Send
from tests.web.history import BEGAN, sent


def test_ci_names_the_default_branch_at_the_first_upload_that_is_of_no_pull_request(
    project: Project, send: Send
) -> None:
    sent(send, 0, {}, "a", branch="fix", pull_request="7", default_branch="evil")
    project.refresh_from_db()
    assert project.default_branch == "main"
    Project.objects.filter(pk=project.pk).update(default_branch="main")


def test_the_first_word_counts_and_later_ones_ask(project: Project, send: Send, admin_client: Client) -> None:
    sent(send, 0, {}, "a", branch="trunk", default_branch="trunk")
    project.refresh_from_db()
    assert project.default_branch == "trunk" and branch_question(project) is None
    sent(send, 1, {}, "a", branch="next", default_branch="next")
    project.refresh_from_db()
    assert project.default_branch == "trunk"
    question = branch_question(project)
    assert question is not None and question.sentence.startswith("CI says that the default branch is next.")
    page = admin_client.get(reverse("project", args=(project.slug,))).content.decode()
    assert "CI says that the default branch is next." in page


def test_the_word_is_no_part_of_what_makes_a_run(project: Project) -> None:
    said, unsaid = RunMetadata(commit="a", build_id="1", default_branch="x"), RunMetadata(commit="a", build_id="1")
    assert said.run_key(b"") == unsaid.run_key(b"") and said.as_json()["default_branch"] == "x"


def test_runs_of_several_branches_ask_nothing(project: Project, send: Send) -> None:
    sent(send, 0, {}, "a", branch="one")
    assert branch_question(project) is not None
    sent(send, 1, {}, "a", branch="two")
    assert branch_question(project) is None
    sent(send, 2, {}, "a", branch="main")
    assert branch_question(project) is None


@pytest.mark.parametrize(
    ("found", "said"),
    [
        (Elsewhere(4, 4, 0, 0), "Failed in all 4 runs of this pull request, never on main: very likely this change."),
        (Elsewhere(1, 1, 0, 0), "Failed in the only run of this pull request, never on main."),
        (Elsewhere(2, 4, 0, 0), "Failed in 2 of 4 runs of this pull request."),
        (
            Elsewhere(1, 1, 0, 2),
            "Failed in the only run of this pull request, never on main; failed on 2 other pull requests today.",
        ),
    ],
)
def test_a_failure_of_a_pull_request_says_whose_it_looks_like(found: Elsewhere, said: str) -> None:
    assert whose_sentence(found, None, Run(pull_request="7", placed_at=BEGAN), "main") == said


def test_the_run_page_says_where_else_it_failed(send: Send, project: Project, admin_client: Client) -> None:
    from analytics.services import analysis_refresh

    for hour in range(3):
        sent(send, hour, {}, "shared mine")
    broken = sent(send, 3, {"shared": "the cart is empty"}, "mine")
    for hour in (4, 5, 6):
        run = sent(
            send,
            hour,
            {"shared": "the cart is empty", "mine": "no total"},
            branch="fix",
            pull_request="7",
            commit=f"f{hour}",
        )
    analysis = analysis_refresh(project=project)
    page = admin_client.get(reverse("run", args=(project.slug, run.pk))).content.decode()
    assert f"Also failing on main for 3 h, since run {broken.pk}." in page
    assert "Failed in all 3 runs of this pull request, never on main: very likely this change." in page
    assert analysis.summary["runs"]["regression"] == 4, "the commit that broke it, and three runs of the pull request"
