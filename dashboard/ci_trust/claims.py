"""What the ID token of a CI job says, in our words. Pure.

GitHub gives pull requests from forks no ID token; what a workflow of the repository itself relays for them
(`workflow_run`, `pull_request_target`) carries the default branch in its claims, and so says nothing of what was
tested. GitLab, in pipelines of merge requests from forks that run in the parent project, named the parent in
`project_id` up to 18.2.1; since then it names the fork there, and the parent in `job_project_id`."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import Any
from urllib.parse import urlsplit

_TRUSTED_EVENTS = frozenset(
    {"push", "pull_request", "merge_group", "schedule", "workflow_dispatch", "repository_dispatch", "release"}
)
"""Events of GitHub whose claims speak of what was tested. All others relay something from elsewhere."""
_QUEUE = re.compile(r"refs/heads/gh-readonly-queue/(?P<base>.+)/pr-(?P<number>[0-9]{1,18})-[0-9a-f]{7,64}")
_PULL = re.compile(r"refs/pull/([0-9]{1,18})/(?:merge|head)")
_MERGE_REQUEST = "refs/merge-requests/"
_SOMETHING = "merge request"
"""The number of a merge request where nobody tells it: it is none of the default branch in any case."""

GITHUB_ISSUER = "https://token.actions.githubusercontent.com"


@dataclass(frozen=True, slots=True)
class JobClaims:
    """A job, as its token tells of it."""

    repository_id: str
    name: str
    ref: str = ""
    protected: bool = False
    environment: str = ""
    fork: bool = False
    """The tests are those of a fork, or it cannot be told that they are not."""
    values: Mapping[str, Any] = field(default_factory=dict)
    """Of the run: wins over what the client says."""
    otherwise: Mapping[str, Any] = field(default_factory=dict)
    """Of the run, where the client says nothing."""


def github(claims: Mapping[str, Any]) -> JobClaims:
    """The words of GitHub Actions. Of a pull request GitHub tells the merge that it built, not the head commit."""
    event, ref = _text(claims, "event_name"), _text(claims, "ref")
    queue, pull = _QUEUE.fullmatch(ref), _PULL.fullmatch(ref)
    relayed = event not in _TRUSTED_EVENTS
    values: dict[str, Any] = {
        "branch": _text(claims, "head_ref") or _short(ref),
        "pull_request": pull[1] if pull else "",
        "build_id": _text(claims, "run_id"),
        "build_url": _github_build(claims),
        "attempt": _count(claims, "run_attempt"),
    }
    if queue:
        values |= {"branch": f"gh-readonly-queue/{queue['base']}", "pull_request": queue["number"]}
    commit = {"commit": _text(claims, "sha", 64)}
    return JobClaims(
        repository_id=_text(claims, "repository_id"),
        name=_text(claims, "repository"),
        ref=ref,
        protected=_text(claims, "ref_protected") == "true" and not pull and not relayed,
        environment=_text(claims, "environment"),
        fork=relayed,
        values={} if relayed else _known(values if pull else {**values, **commit}, {"pull_request"}),
        otherwise=commit if pull and not relayed else {},
    )


def gitlab(claims: Mapping[str, Any]) -> JobClaims:
    """The words of GitLab. Whoever wrote the code, the job's own project is the one that let it run."""
    runs_in = _text(claims, "job_project_id") or _text(claims, "project_id")
    code_of = {_text(claims, name) or runs_in for name in ("project_id", "source_project_id")}
    request = _text(claims, "pipeline_source") in ("merge_request_event", "external_pull_request_event")
    path = _text(claims, "job_project_path") or _text(claims, "project_path")
    values: dict[str, Any] = {
        "branch": _text(claims, "ref"),
        "build_id": _text(claims, "pipeline_id"),
        "build_url": _gitlab_build(claims, path),
    }
    commit = {"commit": _text(claims, "sha", 64)}
    return JobClaims(
        repository_id=runs_in,
        name=path,
        ref=_MERGE_REQUEST if request else _gitlab_ref(claims),
        protected=_text(claims, "ref_protected") == "true" and not request,
        environment=_text(claims, "environment"),
        fork=code_of != {runs_in},
        values=_known(values if request else {**values, **commit, "pull_request": ""}, {"pull_request"}),
        otherwise={**commit, "pull_request": _SOMETHING} if request else {},
    )


def other(claims: Mapping[str, Any]) -> JobClaims:
    """An issuer whose words we don't know: the subject is all that counts, and tells nothing of the run."""
    subject = _text(claims, "sub")
    return JobClaims(repository_id=subject, name=subject)


READERS = {"github": github, "gitlab": gitlab, "other": other}


def fits(ref: str, patterns: list[str]) -> bool:
    """Whether a ref is one of those; a branch may be named without `refs/heads/`, a tag may not."""
    names = [ref, ref.removeprefix("refs/heads/")] if ref.startswith("refs/heads/") else [ref]
    return not patterns or any(fnmatchcase(name, pattern) for name in names for pattern in patterns)


# -- one claim ---------------------------------------------------------------------------------------------------


def _text(claims: Mapping[str, Any], name: str, longest: int = 255) -> str:
    """Issuers write numbers and yes or no as text, or not."""
    value = claims.get(name)
    if isinstance(value, bool):
        return str(value).lower()
    return str(value).replace("\0", "")[:longest] if isinstance(value, str | int) else ""


def _count(claims: Mapping[str, Any], name: str) -> int:
    written = _text(claims, name)
    return min(max(int(written), 1), 10_000) if re.fullmatch("[0-9]{1,9}", written) else 1


def _known(values: dict[str, Any], besides: set[str]) -> dict[str, Any]:
    """What is not told overrides nothing, besides what says something by being empty."""
    return {name: value for name, value in values.items() if value or name in besides}


def _short(ref: str) -> str:
    return ref.removeprefix("refs/heads/").removeprefix("refs/tags/")


def _github_build(claims: Mapping[str, Any]) -> str:
    """GitHub's tokens are from a host of their own, those of an Enterprise Server from the server."""
    host = urlsplit(_text(claims, "iss")).hostname or ""
    host = "github.com" if f"https://{host}" == GITHUB_ISSUER else host.removeprefix("token.actions.")
    return f"https://{host}/{_text(claims, 'repository')}/actions/runs/{_text(claims, 'run_id')}"


def _gitlab_build(claims: Mapping[str, Any], path: str) -> str:
    job = _text(claims, "job_id")
    return f"{_text(claims, 'iss')}/{path}/-/jobs/{job}" if job else ""


def _gitlab_ref(claims: Mapping[str, Any]) -> str:
    kind = "tags" if _text(claims, "ref_type") == "tag" else "heads"
    return f"refs/{kind}/{_text(claims, 'ref')}"
