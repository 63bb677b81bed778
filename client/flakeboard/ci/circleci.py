"""CircleCI. A rerun is a new workflow."""

from __future__ import annotations

from typing import Mapping

from flakeboard.ci.facts import Facts, count, first, last_step, shard


def is_here(environ: Mapping[str, str]) -> bool:
    return environ.get("CIRCLECI") == "true"


def facts(environ: Mapping[str, str]) -> Facts:
    get = environ.get
    return Facts(
        system="CircleCI",
        commit=get("CIRCLE_SHA1", ""),
        branch=first(get("CIRCLE_BRANCH"), get("CIRCLE_TAG")),
        pull_request=first(get("CIRCLE_PR_NUMBER"), last_step(get("CIRCLE_PULL_REQUEST", ""))),
        build_id=first(get("CIRCLE_WORKFLOW_ID"), get("CIRCLE_BUILD_NUM")),
        build_url=get("CIRCLE_BUILD_URL", ""),
        job=get("CIRCLE_JOB", ""),
        shard=shard(count(environ, "CIRCLE_NODE_INDEX"), count(environ, "CIRCLE_NODE_TOTAL")),
    )
