"""Jenkins. A multibranch build of a pull request has CHANGE_ variables; a plain build has origin/branch."""

from __future__ import annotations

from typing import Mapping
from urllib.parse import unquote

from flakeboard.ci.facts import Facts, first, without


def is_here(environ: Mapping[str, str]) -> bool:
    return bool(environ.get("JENKINS_URL") or environ.get("JENKINS_HOME"))


def facts(environ: Mapping[str, str]) -> Facts:
    get = environ.get
    return Facts(
        system="Jenkins",
        commit=get("GIT_COMMIT", ""),
        branch=first(get("CHANGE_BRANCH"), get("BRANCH_NAME"), without("origin/", get("GIT_BRANCH", ""))),
        pull_request=get("CHANGE_ID", ""),
        build_id=get("BUILD_TAG", ""),
        build_url=get("BUILD_URL", ""),
        job=_job(environ),
        host=get("NODE_NAME", ""),
    )


def _job(environ: Mapping[str, str]) -> str:
    """A multibranch project has a job for each branch, such as `app/PR-7`, so only `app` is kept."""
    name, branch = environ.get("JOB_NAME", ""), environ.get("BRANCH_NAME", "")
    project, _, last = name.rpartition("/")
    return project if project and branch and unquote(last) == branch else name
