"""Buildkite."""

from __future__ import annotations

from typing import Mapping

from flakeboard.ci.facts import Facts, count, first, shard


def is_here(environ: Mapping[str, str]) -> bool:
    return environ.get("BUILDKITE") == "true"


def facts(environ: Mapping[str, str]) -> Facts:
    get = environ.get
    pull_request, commit = get("BUILDKITE_PULL_REQUEST", ""), get("BUILDKITE_COMMIT", "")
    return Facts(
        system="Buildkite",
        commit="" if commit == "HEAD" else commit,
        branch=get("BUILDKITE_BRANCH", ""),
        default_branch=get("BUILDKITE_PIPELINE_DEFAULT_BRANCH", ""),
        pull_request="" if pull_request == "false" else pull_request,
        build_id=get("BUILDKITE_BUILD_ID", ""),
        build_url=get("BUILDKITE_BUILD_URL", ""),
        attempt=(count(environ, "BUILDKITE_RETRY_COUNT") or 0) + 1,
        job=first(get("BUILDKITE_STEP_KEY"), get("BUILDKITE_LABEL")),
        shard=shard(count(environ, "BUILDKITE_PARALLEL_JOB"), count(environ, "BUILDKITE_PARALLEL_JOB_COUNT")),
        host=get("BUILDKITE_AGENT_NAME", ""),
    )
