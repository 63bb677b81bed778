"""What each CI says of a run, from variables as they really are."""

from __future__ import annotations

import json
import platform
import subprocess
from pathlib import Path

import pytest
from flakeboard import git, metadata
from flakeboard.ci import facts_from
from flakeboard.problems import Problem

SHA, MERGE, TREE = "a" * 40, "b" * 40, "c" * 40

GITHUB = {
    "GITHUB_ACTIONS": "true",
    "GITHUB_SHA": SHA,
    "GITHUB_REF": "refs/heads/main",
    "GITHUB_REF_NAME": "main",
    "GITHUB_EVENT_NAME": "push",
    "GITHUB_RUN_ID": "1658821493",
    "GITHUB_RUN_ATTEMPT": "2",
    "GITHUB_JOB": "test",
    "GITHUB_SERVER_URL": "https://github.com",
    "GITHUB_REPOSITORY": "octo/shop",
    "RUNNER_OS": "Linux",
    "RUNNER_ARCH": "X64",
    "RUNNER_NAME": "GitHub Actions 12",
}
GITLAB = {
    "GITLAB_CI": "true",
    "CI_COMMIT_SHA": SHA,
    "CI_COMMIT_REF_NAME": "main",
    "CI_PIPELINE_ID": "9912",
    "CI_JOB_URL": "https://gitlab.example/shop/-/jobs/4",
    "CI_JOB_NAME": "test 2/4",
    "CI_NODE_INDEX": "2",
    "CI_NODE_TOTAL": "4",
    "CI_JOB_IMAGE": "python:3.12",
    "CI_RUNNER_DESCRIPTION": "runner-7",
    "CI_JOB_STARTED_AT": "2026-01-31T12:00:00Z",
}
SYSTEMS = {
    "GitHub Actions": (
        GITHUB,
        {
            "commit": SHA,
            "branch": "main",
            "build_id": "1658821493",
            "attempt": 2,
            "job": "test",
            "build_url": "https://github.com/octo/shop/actions/runs/1658821493",
            "host": "GitHub Actions 12",
            "environment": {"os": "Linux", "arch": "X64"},
        },
    ),
    "GitLab CI": (
        GITLAB,
        {
            "commit": SHA,
            "branch": "main",
            "build_id": "9912",
            "job": "test 2/4",
            "shard": "2/4",
            "host": "runner-7",
            "started_at": "2026-01-31T12:00:00Z",
            "environment": {"image": "python:3.12"},
        },
    ),
    "Jenkins": (
        {
            "JENKINS_URL": "https://ci.example/",
            "GIT_COMMIT": SHA,
            "GIT_BRANCH": "origin/main",
            "NODE_NAME": "agent-3",
            "BUILD_TAG": "jenkins-shop-12",
            "BUILD_URL": "https://ci.example/job/shop/12/",
            "JOB_NAME": "shop",
        },
        {"commit": SHA, "branch": "main", "build_id": "jenkins-shop-12", "job": "shop", "host": "agent-3"},
    ),
    "CircleCI": (
        {
            "CIRCLECI": "true",
            "CIRCLE_SHA1": SHA,
            "CIRCLE_BRANCH": "fix",
            "CIRCLE_WORKFLOW_ID": "w-1",
            "CIRCLE_PULL_REQUEST": "https://github.com/octo/shop/pull/77",
            "CIRCLE_JOB": "test",
            "CIRCLE_NODE_INDEX": "0",
            "CIRCLE_NODE_TOTAL": "3",
            "CIRCLE_BUILD_URL": "https://circleci.com/gh/octo/shop/5",
        },
        {"commit": SHA, "branch": "fix", "pull_request": "77", "build_id": "w-1", "shard": "1/3", "job": "test"},
    ),
    "Buildkite": (
        {
            "BUILDKITE": "true",
            "BUILDKITE_COMMIT": SHA,
            "BUILDKITE_BRANCH": "main",
            "BUILDKITE_PULL_REQUEST": "false",
            "BUILDKITE_BUILD_ID": "01-ab",
            "BUILDKITE_RETRY_COUNT": "1",
            "BUILDKITE_LABEL": ":python: test",
            "BUILDKITE_PARALLEL_JOB": "3",
            "BUILDKITE_PARALLEL_JOB_COUNT": "8",
            "BUILDKITE_AGENT_NAME": "agent-1",
        },
        {"commit": SHA, "pull_request": "", "attempt": 2, "job": ":python: test", "shard": "4/8", "host": "agent-1"},
    ),
    "Azure Pipelines": (
        {
            "TF_BUILD": "True",
            "BUILD_SOURCEVERSION": SHA,
            "BUILD_SOURCEBRANCH": "refs/heads/feature/x",
            "BUILD_BUILDID": "88",
            "SYSTEM_COLLECTIONURI": "https://dev.azure.com/octo/",
            "SYSTEM_TEAMPROJECT": "My Shop",
            "SYSTEM_JOBATTEMPT": "3",
            "SYSTEM_PHASENAME": "test",
            "SYSTEM_JOBPOSITIONINPHASE": "2",
            "SYSTEM_TOTALJOBSINPHASE": "5",
            "AGENT_OS": "Linux",
            "AGENT_NAME": "Azure 4",
        },
        {
            "commit": SHA,
            "branch": "feature/x",
            "build_id": "88",
            "attempt": 3,
            "shard": "2/5",
            "host": "Azure 4",
            "build_url": "https://dev.azure.com/octo/My%20Shop/_build/results?buildId=88",
        },
    ),
    "Travis CI": (
        {
            "TRAVIS": "true",
            "TRAVIS_COMMIT": SHA,
            "TRAVIS_BRANCH": "main",
            "TRAVIS_PULL_REQUEST": "false",
            "TRAVIS_BUILD_ID": "55",
            "TRAVIS_JOB_NUMBER": "12.3",
            "TRAVIS_PYTHON_VERSION": "3.9",
            "TRAVIS_OS_NAME": "osx",
        },
        {"commit": SHA, "build_id": "55", "job": "3", "environment": {"python": "3.9", "os": "osx"}},
    ),
    "Drone": (
        {
            "DRONE": "true",
            "DRONE_COMMIT_SHA": SHA,
            "DRONE_SOURCE_BRANCH": "fix",
            "DRONE_PULL_REQUEST": "4",
            "DRONE_REPO": "octo/shop",
            "DRONE_BUILD_NUMBER": "42",
            "DRONE_STEP_NAME": "test",
            "DRONE_STAGE_NAME": "default",
        },
        {"commit": SHA, "branch": "fix", "pull_request": "4", "build_id": "octo/shop/42", "job": "default test"},
    ),
    "Bitbucket Pipelines": (
        {
            "BITBUCKET_BUILD_NUMBER": "9",
            "BITBUCKET_COMMIT": SHA,
            "BITBUCKET_BRANCH": "main",
            "BITBUCKET_PR_ID": "3",
            "BITBUCKET_PIPELINE_UUID": "{u-1}",
            "BITBUCKET_PARALLEL_STEP": "0",
            "BITBUCKET_PARALLEL_STEP_COUNT": "2",
            "BITBUCKET_REPO_FULL_NAME": "octo/shop",
        },
        {"commit": SHA, "pull_request": "3", "build_id": "{u-1}", "shard": "1/2"},
    ),
}

SYSTEMS.update(
    {
        "Semaphore": (
            {
                "SEMAPHORE": "true",
                "SEMAPHORE_WORKFLOW_ID": "w-1",
                "SEMAPHORE_PIPELINE_ID": "p-1",
                "SEMAPHORE_JOB_ID": "j-1",
                "SEMAPHORE_JOB_NAME": "test",
                "SEMAPHORE_JOB_INDEX": "2",
                "SEMAPHORE_JOB_COUNT": "3",
                "SEMAPHORE_ORGANIZATION_URL": "https://octo.semaphoreci.com",
                "SEMAPHORE_GIT_SHA": MERGE,
                "SEMAPHORE_GIT_PR_SHA": SHA,
                "SEMAPHORE_GIT_BRANCH": "main",
                "SEMAPHORE_GIT_PR_BRANCH": "fix",
                "SEMAPHORE_GIT_PR_NUMBER": "7",
            },
            {
                "commit": SHA,
                "merged_commit": MERGE,
                "branch": "fix",
                "pull_request": "7",
                "build_id": "p-1",
                "build_url": "https://octo.semaphoreci.com/jobs/j-1",
                "job": "test",
                "shard": "2/3",
            },
        ),
        "CodeBuild": (
            {
                "CODEBUILD_BUILD_ID": "shop:u-1",
                "CODEBUILD_RESOLVED_SOURCE_VERSION": SHA,
                "CODEBUILD_SOURCE_VERSION": "pr/7",
                "CODEBUILD_WEBHOOK_TRIGGER": "pr/7",
                "CODEBUILD_WEBHOOK_HEAD_REF": "refs/heads/feature/x",
                "CODEBUILD_BATCH_BUILD_IDENTIFIER": "linux",
                "CODEBUILD_BUILD_URL": "https://console.example/shop:u-1",
                "CODEBUILD_START_TIME": "1767225600500",
            },
            {
                "commit": SHA,
                "branch": "feature/x",
                "pull_request": "7",
                "build_id": "shop:u-1",
                "job": "shop linux",
                "started_at": "2026-01-01T00:00:00.500000+00:00",
            },
        ),
        "Woodpecker": (
            {
                "CI": "woodpecker",
                "DRONE": "true",
                "CI_COMMIT_SHA": SHA,
                "CI_COMMIT_BRANCH": "main",
                "CI_COMMIT_SOURCE_BRANCH": "fix",
                "CI_COMMIT_PULL_REQUEST": "7",
                "CI_REPO": "octo/shop",
                "CI_PIPELINE_NUMBER": "12",
                "CI_PIPELINE_URL": "https://wp.example/repos/1/pipeline/12",
                "CI_WORKFLOW_NAME": "build",
                "CI_STEP_NAME": "test",
                "CI_STEP_STARTED": "1767225600",
                "CI_MACHINE": "agent",
            },
            {
                "commit": SHA,
                "branch": "fix",
                "pull_request": "7",
                "build_id": "octo/shop/12",
                "build_url": "https://wp.example/repos/1/pipeline/12",
                "job": "build test",
                "host": "agent",
                "started_at": "2026-01-01T00:00:00+00:00",
            },
        ),
        "AppVeyor": (
            {
                "APPVEYOR": "True",
                "APPVEYOR_REPO_COMMIT": MERGE,
                "APPVEYOR_PULL_REQUEST_HEAD_COMMIT": SHA,
                "APPVEYOR_PULL_REQUEST_HEAD_REPO_BRANCH": "fix",
                "APPVEYOR_PULL_REQUEST_NUMBER": "7",
                "APPVEYOR_REPO_BRANCH": "main",
                "APPVEYOR_BUILD_ID": "55",
                "APPVEYOR_JOB_ID": "abc",
                "APPVEYOR_JOB_NAME": "Environment: PY=3.12",
                "APPVEYOR_ACCOUNT_NAME": "octo",
                "APPVEYOR_PROJECT_SLUG": "shop",
                "APPVEYOR_RE_RUN_INCOMPLETE": "True",
                "CONFIGURATION": "Release",
            },
            {
                "commit": SHA,
                "merged_commit": MERGE,
                "branch": "fix",
                "pull_request": "7",
                "build_id": "55",
                "attempt": 2,
                "job": "Environment: PY=3.12",
                "build_url": "https://ci.appveyor.com/project/octo/shop/builds/55/job/abc",
                "environment": {"configuration": "Release"},
            },
        ),
        "Cirrus CI": (
            {
                "CIRRUS_CI": "true",
                "CIRRUS_CHANGE_IN_REPO": SHA,
                "CIRRUS_BRANCH": "pull/7",
                "CIRRUS_PR": "7",
                "CIRRUS_BUILD_ID": "5",
                "CIRRUS_TASK_ID": "6",
                "CIRRUS_TASK_NAME": "test",
                "CIRRUS_NODE_INDEX": "0",
                "CIRRUS_NODE_TOTAL": "2",
                "CIRRUS_OS": "linux",
            },
            {
                "commit": SHA,
                "branch": "pull/7",
                "pull_request": "7",
                "build_id": "5",
                "build_url": "https://cirrus-ci.com/task/6",
                "job": "test",
                "shard": "1/2",
                "environment": {"os": "linux"},
            },
        ),
    }
)


NAMES_THE_DEFAULT_BRANCH = {
    "Woodpecker": "CI_REPO_DEFAULT_BRANCH",
    "Cirrus CI": "CIRRUS_DEFAULT_BRANCH",
    "GitLab CI": "CI_DEFAULT_BRANCH",
    "Buildkite": "BUILDKITE_PIPELINE_DEFAULT_BRANCH",
    "Drone": "DRONE_REPO_BRANCH",
}


@pytest.mark.parametrize(("system", "variable"), NAMES_THE_DEFAULT_BRANCH.items())
def test_cis_default_branch_is_sent(system: str, variable: str) -> None:
    environ = dict(SYSTEMS[system][0])
    assert "default_branch" not in metadata.collect(environ={**environ, variable: ""})
    assert metadata.collect(environ={**environ, variable: "trunk"})["default_branch"] == "trunk"


def test_githubs_default_branch_is_in_its_event(tmp_path: Path) -> None:
    event = tmp_path / "event.json"
    event.write_text(json.dumps({"repository": {"default_branch": "trunk"}}))
    environ = {"GITHUB_ACTIONS": "true", "GITHUB_SHA": SHA, "GITHUB_EVENT_PATH": str(event)}
    assert metadata.collect(environ=environ)["default_branch"] == "trunk"


@pytest.mark.parametrize("system", SYSTEMS)
def test_each_ci_says_what_it_knows(system: str) -> None:
    environ, expected = SYSTEMS[system]
    facts = facts_from(environ)
    assert facts.system == system
    assert {name: getattr(facts, name) for name in expected} == expected


def test_teamcity_is_read_from_its_properties(tmp_path: Path) -> None:
    configuration = tmp_path / "configuration.properties"
    configuration.write_text("teamcity.build.branch=refs/heads/fix\nteamcity.serverUrl=https\\://tc.example\n")
    build = tmp_path / "build.properties"
    build.write_text(
        f"# made by TeamCity\nteamcity.configuration.properties.file={configuration}\nbuild.vcs.number={SHA}\n"
        "teamcity.build.id=17\nagent.name=agent 3\n"
    )
    environ = {
        "TEAMCITY_VERSION": "2024.03",
        "TEAMCITY_BUILD_PROPERTIES_FILE": str(build),
        "TEAMCITY_BUILDCONF_NAME": "Tests",
    }
    facts = facts_from(environ)
    assert (facts.commit, facts.branch, facts.build_id, facts.job) == (SHA, "fix", "17", "Tests")
    assert (facts.build_url, facts.host) == ("https://tc.example/build/17", "agent 3")


@pytest.mark.parametrize(
    ("properties", "branches"),
    [
        ("teamcity.build.branch=<default>\nvcsroot.branch=refs/heads/trunk\n", ("trunk", "trunk")),
        ("teamcity.build.branch=<default>\n", ("", "")),
        ("teamcity.build.branch=<default>\nvcsroot.branch=%the.branch%\n", ("", "")),
        ("teamcity.build.branch=trunk\nteamcity.build.branch.is_default=true\n", ("trunk", "trunk")),
        ("teamcity.build.branch=fix\nvcsroot.branch=refs/heads/trunk\n", ("fix", "trunk")),
        ("teamcity.build.branch=pull/7\nteamcity.pullRequest.source.branch=fix\n", ("fix", "")),
    ],
)
def test_teamcitys_default_is_the_branch_of_its_root(
    tmp_path: Path, properties: str, branches: tuple[str, str]
) -> None:
    (tmp_path / "configuration").write_text(properties)
    (tmp_path / "build").write_text("teamcity.configuration.properties.file={}\n".format(tmp_path / "configuration"))
    environ = {"TEAMCITY_VERSION": "2024.03", "TEAMCITY_BUILD_PROPERTIES_FILE": str(tmp_path / "build")}
    facts = facts_from(environ)
    assert (facts.branch, facts.default_branch) == branches


def pull_request_event(tmp_path: Path) -> dict[str, str]:
    event = tmp_path / "event.json"
    event.write_text(json.dumps({"pull_request": {"number": 31, "head": {"sha": SHA}}}))
    return {
        **GITHUB,
        "GITHUB_SHA": MERGE,
        "GITHUB_REF": "refs/pull/31/merge",
        "GITHUB_REF_NAME": "31/merge",
        "GITHUB_HEAD_REF": "fix-cart",
        "GITHUB_EVENT_NAME": "pull_request",
        "GITHUB_EVENT_PATH": str(event),
    }


def test_a_pull_request_on_github_is_its_head_commit_with_the_tree_that_was_built(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(git, "head", lambda: (TREE, MERGE, "HEAD"))
    values = metadata.collect(environ=pull_request_event(tmp_path))
    assert (values["commit"], values["tree"]) == (SHA, TREE)
    assert (values["branch"], values["pull_request"]) == ("fix-cart", "31")


def test_without_a_tree_the_revision_is_the_merge_commit_that_was_built(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(git, "head", lambda: ("", "", ""))
    assert metadata.collect(environ=pull_request_event(tmp_path))["commit"] == MERGE


def test_a_pull_request_target_is_the_base_that_it_built(tmp_path: Path) -> None:
    environ = {**pull_request_event(tmp_path), "GITHUB_EVENT_NAME": "pull_request_target", "GITHUB_SHA": MERGE}
    assert facts_from(environ).commit == MERGE


def test_a_merge_queue_is_one_branch_whatever_the_try() -> None:
    name = "gh-readonly-queue/main/pr-31-" + SHA
    facts = facts_from({**GITHUB, "GITHUB_REF_NAME": name, "GITHUB_EVENT_NAME": "merge_group"})
    assert (facts.branch, facts.pull_request) == ("gh-readonly-queue/main", "31")


def test_an_event_file_that_is_no_event_loses_nothing_else(tmp_path: Path) -> None:
    event = tmp_path / "event.json"
    event.write_text("[1, 2")
    assert facts_from({**GITHUB, "GITHUB_EVENT_PATH": str(event)}).commit == SHA


def test_a_merge_request_on_gitlab_is_its_source_branch() -> None:
    environ = {
        **GITLAB,
        "CI_MERGE_REQUEST_IID": "8",
        "CI_MERGE_REQUEST_SOURCE_BRANCH_NAME": "fix",
        "CI_COMMIT_SHA": MERGE,
        "CI_MERGE_REQUEST_SOURCE_BRANCH_SHA": SHA,
    }
    facts = facts_from(environ)
    assert (facts.branch, facts.pull_request, facts.commit, facts.merged_commit) == ("fix", "8", SHA, MERGE)


def test_plain_git_says_commit_tree_and_branch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for command in (
        ["init", "-q", "-b", "trunk"],
        ["-c", "user.name=a", "-c", "user.email=a@b.c", "commit", "-q", "--allow-empty", "-m", "first"],
    ):
        subprocess.run(["git", *command], check=True)
    values = metadata.collect(environ={})
    assert (len(values["commit"]), len(values["tree"]), values["branch"]) == (40, 40, "trunk")
    assert "build_id" not in values
    assert (values["tree"], values["commit"], "trunk") == (git.tree(), git.commit(), git.branch())
    assert values["environment"]["os"] == platform.system()


def test_a_detached_head_has_no_branch_and_a_new_repository_no_commit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    subprocess.run(["git", "init", "-q", "-b", "trunk"], check=True)
    assert git.head() == ("", "", "trunk")
    identity = ["-c", "user.name=a", "-c", "user.email=a@b.c"]
    for command in (["commit", "-q", "--allow-empty", "-m", "first"], ["checkout", "-q", "--detach"]):
        subprocess.run(["git", *identity, *command], check=True)
    assert git.head() == (git.tree(), git.commit(), "")


def test_nothing_is_said_outside_of_git(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert "commit" not in metadata.collect(environ={"PATH": "/nowhere"})


def test_options_win_over_ci_and_pairs_over_hints() -> None:
    values = metadata.collect(
        {"branch": "mine", "shard": "1/2", "job": ""},
        ["python=3.12", "os=BSD"],
        {**GITHUB, "FLAKEBOARD_ENVIRONMENT": "python=3.8, db=pg"},
    )
    assert (values["branch"], values["shard"], values["job"]) == ("mine", "1/2", "test")
    assert values["environment"] == {"os": "BSD", "arch": "X64", "python": "3.12", "db": "pg"}


def test_a_pair_without_a_sign_is_told() -> None:
    with pytest.raises(Problem, match="name=value"):
        metadata.collect(None, ["linux"], {})


def test_values_are_cut_to_what_the_server_takes() -> None:
    values = metadata.clipped({"branch": "x" * 300, "shard": "y" * 100, "host": "a\0b\udcff", "job": ""})
    assert (len(values["branch"]), len(values["shard"]), values["host"]) == (255, 64, "ab?")
    assert "job" not in values


# -- what a job is called ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "branch", "job"),
    [
        ("app/PR-7", "PR-7", "app"),
        ("team/app/feature%2Fcart", "feature/cart", "team/app"),
        ("team/app", "", "team/app"),
        ("app/nightly", "main", "app/nightly"),
    ],
)
def test_a_multibranch_job_on_jenkins_is_one_job_on_all_branches(name: str, branch: str, job: str) -> None:
    assert facts_from({"JENKINS_URL": "x", "JOB_NAME": name, "BRANCH_NAME": branch}).job == job


@pytest.mark.parametrize(
    ("image", "kept"),
    [
        ("registry.example:5000/app/ci:3f2a9c1", "registry.example:5000/app/ci"),
        ("app:build-3f2a9c1", "app"),
        ("app:fix-cart", "app"),
        ("app@sha256:77aa", "app"),
        ("python:3.12", "python:3.12"),
        ("registry.example:5000/app/ci", "registry.example:5000/app/ci"),
    ],
)
def test_an_image_that_gitlab_builds_for_each_commit_is_one_environment(image: str, kept: str) -> None:
    told = {"CI_COMMIT_SHORT_SHA": "3f2a9c1", "CI_COMMIT_REF_SLUG": "fix-cart", "CI_JOB_IMAGE": image}
    assert facts_from({"GITLAB_CI": "true", **told}).environment == {"image": kept}


def test_jobs_of_one_name_in_two_workflows_on_github_are_two_jobs() -> None:
    def job(workflow: str) -> str:
        return facts_from({"GITHUB_ACTIONS": "true", "GITHUB_WORKFLOW": workflow, "GITHUB_JOB": "test"}).job

    assert job("nightly") != job("pull requests")
