"""GitLab CI. A merged-results pipeline builds a merge by GitLab; the head is the source branch's."""

from __future__ import annotations

from typing import Mapping

from flakeboard.ci.facts import Facts, count, first, shard


def is_here(environ: Mapping[str, str]) -> bool:
    return environ.get("GITLAB_CI") == "true"


def facts(environ: Mapping[str, str]) -> Facts:
    get = environ.get
    built, head = get("CI_COMMIT_SHA", ""), get("CI_MERGE_REQUEST_SOURCE_BRANCH_SHA", "")
    return Facts(
        system="GitLab CI",
        commit=first(head, built),
        merged_commit=built if head and head != built else "",
        branch=first(get("CI_MERGE_REQUEST_SOURCE_BRANCH_NAME"), get("CI_COMMIT_REF_NAME")),
        default_branch=get("CI_DEFAULT_BRANCH", ""),
        pull_request=first(get("CI_MERGE_REQUEST_IID"), get("CI_EXTERNAL_PULL_REQUEST_IID")),
        build_id=get("CI_PIPELINE_ID", ""),
        build_url=first(get("CI_JOB_URL"), get("CI_PIPELINE_URL")),
        attempt=(count(environ, "CI_JOB_RETRY_COUNT") or 0) + 1,
        job=get("CI_JOB_NAME", ""),
        shard=_shard(environ),
        environment=_image(environ),
        host=get("CI_RUNNER_DESCRIPTION", ""),
        started_at=get("CI_JOB_STARTED_AT", ""),
    )


def _image(environ: Mapping[str, str]) -> dict[str, str]:
    """The image, without a tag that changes with each commit, branch or pipeline: such a tag is no variant."""
    image = environ.get("CI_JOB_IMAGE", "").partition("@")[0]
    name, sign, tag = image.rpartition(":")
    passing = [environ.get(variable, "") for variable in _PASSING]
    if sign and "/" not in tag and any(tag == value or (len(value) > 4 and value in tag) for value in passing):
        image = name
    return {"image": image} if image else {}


_PASSING = (
    "CI_COMMIT_SHA",
    "CI_COMMIT_SHORT_SHA",
    "CI_COMMIT_REF_SLUG",
    "CI_COMMIT_REF_NAME",
    "CI_PIPELINE_ID",
)


def _shard(environ: Mapping[str, str]) -> str:
    """`parallel: 4` and `parallel: matrix` number their jobs from 1; the job's name tells matrix jobs apart."""
    return shard(count(environ, "CI_NODE_INDEX"), count(environ, "CI_NODE_TOTAL"), first=1)
