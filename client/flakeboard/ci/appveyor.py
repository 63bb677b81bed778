"""AppVeyor. A pull request is built as a merge; *Re-run incomplete* keeps the build's id."""

from __future__ import annotations

from typing import Mapping

from flakeboard.ci.facts import Facts, first, variants

_MATRIX = {"image": "APPVEYOR_BUILD_WORKER_IMAGE", "configuration": "CONFIGURATION", "platform": "PLATFORM"}


def is_here(environ: Mapping[str, str]) -> bool:
    return environ.get("APPVEYOR", "").lower() == "true"


def facts(environ: Mapping[str, str]) -> Facts:
    get = environ.get
    built, head = get("APPVEYOR_REPO_COMMIT", ""), get("APPVEYOR_PULL_REQUEST_HEAD_COMMIT", "")
    return Facts(
        system="AppVeyor",
        commit=first(head, built),
        merged_commit=built if head and head != built else "",
        branch=first(get("APPVEYOR_PULL_REQUEST_HEAD_REPO_BRANCH"), get("APPVEYOR_REPO_BRANCH")),
        pull_request=get("APPVEYOR_PULL_REQUEST_NUMBER", ""),
        build_id=get("APPVEYOR_BUILD_ID", ""),
        build_url=_url(environ),
        attempt=2 if get("APPVEYOR_RE_RUN_INCOMPLETE", "").lower() == "true" else 1,
        job=get("APPVEYOR_JOB_NAME", ""),
        environment=variants(environ, _MATRIX),
    )


def _url(environ: Mapping[str, str]) -> str:
    names = ("APPVEYOR_ACCOUNT_NAME", "APPVEYOR_PROJECT_SLUG", "APPVEYOR_BUILD_ID", "APPVEYOR_JOB_ID")
    account, project, build, job = (environ.get(name, "") for name in names)
    if not (account and project and build):
        return ""
    server = environ.get("APPVEYOR_URL", "https://ci.appveyor.com").rstrip("/")
    return f"{server}/project/{account}/{project}/builds/{build}" + (f"/job/{job}" if job else "")
