"""Jenkins. A multibranch build of a pull request has CHANGE_ variables; a plain one says origin/branch."""

from __future__ import annotations

from typing import Mapping

from flakeboard.ci.facts import Facts, first, without


def is_here(environ: Mapping[str, str]) -> bool:
    return bool(environ.get("JENKINS_URL") or environ.get("JENKINS_HOME"))


def facts(environ: Mapping[str, str]) -> Facts:
    get = environ.get
    return Facts(
        system="Jenkins",
        commit=get("GIT_COMMIT", ""),
        branch=first(get("CHANGE_BRANCH"), get("BRANCH_NAME"), _local(get("GIT_BRANCH", ""))),
        pull_request=get("CHANGE_ID", ""),
        build_id=get("BUILD_TAG", ""),
        build_url=get("BUILD_URL", ""),
        job=get("JOB_NAME", ""),
        host=get("NODE_NAME", ""),
    )


def _local(branch: str) -> str:
    return without("origin/", branch)
