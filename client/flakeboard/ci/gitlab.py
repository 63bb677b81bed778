"""GitLab CI. A merged-results pipeline builds a merge that GitLab made; the head is the source branch's."""

from __future__ import annotations

from typing import Mapping

from flakeboard.ci.facts import Facts, count, first, shard, variants


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
        pull_request=first(get("CI_MERGE_REQUEST_IID"), get("CI_EXTERNAL_PULL_REQUEST_IID")),
        build_id=get("CI_PIPELINE_ID", ""),
        build_url=first(get("CI_JOB_URL"), get("CI_PIPELINE_URL")),
        attempt=(count(environ, "CI_JOB_RETRY_COUNT") or 0) + 1,
        job=get("CI_JOB_NAME", ""),
        shard=_shard(environ),
        environment=variants(environ, {"image": "CI_JOB_IMAGE"}),
        host=get("CI_RUNNER_DESCRIPTION", ""),
        started_at=get("CI_JOB_STARTED_AT", ""),
    )


def _shard(environ: Mapping[str, str]) -> str:
    """`parallel: 4` numbers its jobs from 1; `parallel: matrix` does too, and the job's name tells those apart."""
    return shard(count(environ, "CI_NODE_INDEX"), count(environ, "CI_NODE_TOTAL"), first=1)
