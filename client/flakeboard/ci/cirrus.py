"""Cirrus CI. It does not tell a pull request's branch: there the branch is `pull/7`."""

from __future__ import annotations

from typing import Mapping

from flakeboard.ci.facts import Facts, count, first, shard, variants


def is_here(environ: Mapping[str, str]) -> bool:
    return environ.get("CIRRUS_CI") == "true"


def facts(environ: Mapping[str, str]) -> Facts:
    get = environ.get
    task = get("CIRRUS_TASK_ID", "")
    return Facts(
        system="Cirrus CI",
        commit=get("CIRRUS_CHANGE_IN_REPO", ""),
        branch=first(get("CIRRUS_BRANCH"), get("CIRRUS_TAG")),
        default_branch=get("CIRRUS_DEFAULT_BRANCH", ""),
        pull_request=get("CIRRUS_PR", ""),
        build_id=get("CIRRUS_BUILD_ID", ""),
        build_url=f"https://cirrus-ci.com/task/{task}" if task else "",
        job=first(get("CIRRUS_TASK_NAME_ALIAS"), get("CIRRUS_TASK_NAME")),
        shard=shard(count(environ, "CIRRUS_NODE_INDEX"), count(environ, "CIRRUS_NODE_TOTAL")),
        environment=variants(environ, {"os": "CIRRUS_OS", "arch": "CIRRUS_ARCH"}),
    )
