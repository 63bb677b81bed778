"""GitHub Actions. A pull request is built as a merge by GitHub; its head commit is in the event."""

from __future__ import annotations

import json
import re
from typing import Any, Mapping

from flakeboard.ci.facts import Facts, count, first, variants

_QUEUE = re.compile(r"gh-readonly-queue/(?P<base>.+)/pr-(?P<number>[0-9]+)-[0-9a-f]{7,64}\Z")
_PULL = re.compile(r"refs/pull/([0-9]+)/(?:merge|head)\Z")


def is_here(environ: Mapping[str, str]) -> bool:
    return environ.get("GITHUB_ACTIONS") == "true"


def facts(environ: Mapping[str, str]) -> Facts:
    get = environ.get
    head = _pull_request(environ).get("head") or {}
    built, commit = get("GITHUB_SHA", ""), str(head.get("sha") or "")
    # pull_request_target builds the base branch: the head in the event was not tested, unless it was checked out.
    is_merge = get("GITHUB_EVENT_NAME") == "pull_request" and bool(commit)
    branch, number = _branch(environ)
    return Facts(
        system="GitHub Actions",
        commit=commit if is_merge else built,
        merged_commit=built if is_merge else "",
        branch=branch,
        default_branch=_default_branch(environ),
        pull_request=number,
        build_id=get("GITHUB_RUN_ID", ""),
        build_url="{}/{}/actions/runs/{}".format(
            get("GITHUB_SERVER_URL", "https://github.com"), get("GITHUB_REPOSITORY", ""), get("GITHUB_RUN_ID", "")
        ),
        attempt=count(environ, "GITHUB_RUN_ATTEMPT") or 1,
        job=" / ".join(filter(None, (get("GITHUB_WORKFLOW"), get("GITHUB_JOB")))),
        environment=variants(environ, {"os": "RUNNER_OS", "arch": "RUNNER_ARCH"}),
        host=get("RUNNER_NAME", ""),
    )


def _branch(environ: Mapping[str, str]) -> tuple[str, str]:
    """Branch and pull request. A merge queue makes a branch for each try, so only the queue's name is kept."""
    name = environ.get("GITHUB_REF_NAME", "")
    queued = _QUEUE.match(name)
    if queued:
        return "gh-readonly-queue/" + queued.group("base"), queued.group("number")
    in_ref = _PULL.match(environ.get("GITHUB_REF", ""))
    number = first(str(_pull_request(environ).get("number") or ""), in_ref.group(1) if in_ref else "")
    return first(environ.get("GITHUB_HEAD_REF"), name), number


def _pull_request(environ: Mapping[str, str]) -> dict[str, Any]:
    """The pull request of the event that started this run, from the runner's event file."""
    return _of_event(environ, "pull_request")


def _default_branch(environ: Mapping[str, str]) -> str:
    return str(_of_event(environ, "repository").get("default_branch") or "")


def _of_event(environ: Mapping[str, str], name: str) -> dict[str, Any]:
    try:
        with open(environ.get("GITHUB_EVENT_PATH", ""), encoding="utf-8") as file:
            event = json.load(file)
    except (OSError, ValueError):
        return {}
    found = event.get(name) if isinstance(event, dict) else None
    return found if isinstance(found, dict) else {}
