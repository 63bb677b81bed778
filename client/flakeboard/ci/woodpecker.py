"""Woodpecker. Its numbers count within a repository; a restarted pipeline has a new number."""

from __future__ import annotations

from typing import Mapping

from flakeboard.ci.facts import Facts, first, moment, variants


def is_here(environ: Mapping[str, str]) -> bool:
    return "woodpecker" in (environ.get("CI"), environ.get("CI_SYSTEM_NAME"))


def facts(environ: Mapping[str, str]) -> Facts:
    get = environ.get
    return Facts(
        system="Woodpecker",
        commit=get("CI_COMMIT_SHA", ""),
        branch=first(get("CI_COMMIT_SOURCE_BRANCH"), get("CI_COMMIT_BRANCH"), get("CI_COMMIT_TAG")),
        default_branch=get("CI_REPO_DEFAULT_BRANCH", ""),
        pull_request=get("CI_COMMIT_PULL_REQUEST", ""),
        build_id="/".join(filter(None, (get("CI_REPO"), get("CI_PIPELINE_NUMBER")))),
        build_url=first(get("CI_STEP_URL"), get("CI_PIPELINE_URL")),
        job=" ".join(filter(None, (get("CI_WORKFLOW_NAME"), get("CI_STEP_NAME")))),
        environment=variants(environ, {"platform": "CI_SYSTEM_PLATFORM"}),
        host=get("CI_MACHINE", ""),
        started_at=moment(environ, "CI_STEP_STARTED"),
    )
