"""What GitHub's and GitLab's tokens say of a job, in our words; forks above all."""

from typing import Any

import pytest

from dashboard.ci_trust.claims import fits, github, gitlab, other
from tests.ci_trust.conftest import PUSH

PULL = {**PUSH, "event_name": "pull_request", "ref": "refs/pull/12/merge", "head_ref": "feature", "base_ref": "main"}
GITLAB = {
    "iss": "https://gitlab.com",
    "project_id": "22",
    "project_path": "acme/shop",
    "ref": "main",
    "ref_type": "branch",
    "ref_path": "refs/heads/main",
    "ref_protected": "true",
    "sha": "c" * 40,
    "pipeline_id": "500",
    "pipeline_source": "push",
    "job_id": "900",
}
IN_PARENT = {"job_project_id": "22", "job_project_path": "acme/shop", "pipeline_source": "merge_request_event"}


def test_a_pull_request_of_the_repository_keeps_its_head_commit_and_nothing_else() -> None:
    told = github(PULL)
    assert told.values == {
        "branch": "feature",
        "pull_request": "12",
        "build_id": "99",
        "build_url": "https:///acme/shop/actions/runs/99",
        "attempt": 2,
    }
    assert told.otherwise == {"commit": "a" * 40}
    assert not told.fork
    assert not told.protected


def test_a_merge_queue_is_one_branch_whatever_it_tries() -> None:
    told = github({**PUSH, "event_name": "merge_group", "ref": "refs/heads/gh-readonly-queue/main/pr-8-0123abcd"})
    assert (told.values["branch"], told.values["pull_request"]) == ("gh-readonly-queue/main", "8")


@pytest.mark.parametrize("event", ["workflow_run", "pull_request_target", "issue_comment", "check_suite", "", None])
def test_what_runs_for_the_default_branch_but_relays_something_is_of_a_fork_and_says_nothing_of_it(event: Any) -> None:
    """Their claims name the default branch and its newest commit, whatever was tested."""
    told = github({**PUSH, "event_name": event})
    assert told.fork
    assert not told.protected
    assert dict(told.values) == {}


@pytest.mark.parametrize(
    ("issuer", "address"),
    [
        ("https://token.actions.githubusercontent.com", "https://github.com/acme/shop/actions/runs/99"),
        ("https://token.actions.acme.ghe.com", "https://acme.ghe.com/acme/shop/actions/runs/99"),
        ("https://git.acme.example/_services/token", "https://git.acme.example/acme/shop/actions/runs/99"),
    ],
)
def test_the_builds_address_is_where_people_see_it(issuer: str, address: str) -> None:
    assert github({**PUSH, "iss": issuer}).values["build_url"] == address


def test_a_gitlab_branch_is_told_whole() -> None:
    told = gitlab(GITLAB)
    assert told.values == {
        "branch": "main",
        "commit": "c" * 40,
        "pull_request": "",
        "build_id": "500",
        "build_url": "https://gitlab.com/acme/shop/-/jobs/900",
    }
    assert (told.repository_id, told.ref, told.protected, told.fork) == ("22", "refs/heads/main", True, False)


def test_a_fork_in_the_parents_pipeline_is_of_the_parent_and_a_fork_where_gitlab_names_both() -> None:
    """GitLab since 18.2.2: project_id is the fork's, job_project_id the parent's."""
    told = gitlab({**GITLAB, **IN_PARENT, "project_id": "77", "project_path": "mallory/shop"})
    assert (told.repository_id, told.name, told.fork) == ("22", "acme/shop", True)


def test_a_fork_in_the_parents_pipeline_is_told_by_its_source_too() -> None:
    told = gitlab({**GITLAB, **IN_PARENT, "source_project_id": "77"})
    assert (told.repository_id, told.fork) == ("22", True)


def test_a_fork_is_only_itself_where_gitlab_names_the_fork_alone() -> None:
    """GitLab 18.2.2 before it had job_project_id, and pipelines that run in the fork: it is trusted by nobody."""
    told = gitlab({**GITLAB, "project_id": "77", "pipeline_source": "merge_request_event"})
    assert told.repository_id == "77"


def test_a_merge_request_is_never_taken_for_the_branch_that_it_names() -> None:
    """GitLab before 18.2.2 named the parent: a fork's branch `main` looked like the parent's own."""
    told = gitlab({**GITLAB, "pipeline_source": "merge_request_event"})
    assert not told.protected
    assert not fits(told.ref, ["main"])
    assert not fits(told.ref, ["refs/heads/*"])
    assert "commit" not in told.values
    assert told.otherwise["pull_request"]


def test_a_merge_request_of_the_project_itself_is_no_fork() -> None:
    assert not gitlab({**GITLAB, **IN_PARENT}).fork


def test_of_another_issuer_the_subject_is_all() -> None:
    told = other({"sub": "pipeline:1", "repository_id": "4711"})
    assert (told.repository_id, dict(told.values)) == ("pipeline:1", {})


@pytest.mark.parametrize("value", [None, [], {}, 1.5, "x\0y"])
def test_an_odd_claim_says_nothing_and_gains_nothing(value: Any) -> None:
    for read, claims in ((github, PUSH), (gitlab, GITLAB), (other, {"sub": "x"})):
        right = read(claims)
        for name in claims:
            odd = read({**claims, name: value})
            less = {**claims, name: "xy"} if value == "x\0y" else {key: claims[key] for key in claims if key != name}
            assert odd == read(less), (read.__name__, name)
            assert odd.repository_id in (right.repository_id, "", "xy")
            assert odd.protected <= right.protected and odd.fork >= right.fork
            assert "\\x00" not in repr(odd)
        assert right != read({})
