"""GitHub Actions. A pull request is built as a merge that GitHub made; its head commit is in the event."""

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
    # pull_request_target builds the base: the head in the event is not what was tested, unless it was checked out.
    is_merge = get("GITHUB_EVENT_NAME") == "pull_request" and bool(commit)
    branch, number = _branch(environ)
    return Facts(
        system="GitHub Actions",
        commit=commit if is_merge else built,
        merged_commit=built if is_merge else "",
        branch=branch,
        pull_request=number,
        build_id=get("GITHUB_RUN_ID", ""),
        build_url="{}/{}/actions/runs/{}".format(
            get("GITHUB_SERVER_URL", "https://github.com"), get("GITHUB_REPOSITORY", ""), get("GITHUB_RUN_ID", "")
        ),
        attempt=count(environ, "GITHUB_RUN_ATTEMPT") or 1,
        job=get("GITHUB_JOB", ""),
        environment=variants(environ, {"os": "RUNNER_OS", "arch": "RUNNER_ARCH"}),
        host=get("RUNNER_NAME", ""),
    )


def _branch(environ: Mapping[str, str]) -> tuple[str, str]:
    """Branch and pull request. A merge queue's branches are made for one try each: the queue's name is what stays."""
    name = environ.get("GITHUB_REF_NAME", "")
    queued = _QUEUE.match(name)
    if queued:
        return "gh-readonly-queue/" + queued.group("base"), queued.group("number")
    in_ref = _PULL.match(environ.get("GITHUB_REF", ""))
    number = first(str(_pull_request(environ).get("number") or ""), in_ref.group(1) if in_ref else "")
    return first(environ.get("GITHUB_HEAD_REF"), name), number


def _pull_request(environ: Mapping[str, str]) -> dict[str, Any]:
    """The pull request of the event that started this, from the file that the runner wrote."""
    try:
        with open(environ.get("GITHUB_EVENT_PATH", ""), encoding="utf-8") as file:
            event = json.load(file)
    except (OSError, ValueError):
        return {}
    pull_request = event.get("pull_request") if isinstance(event, dict) else None
    return pull_request if isinstance(pull_request, dict) else {}
