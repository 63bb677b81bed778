"""Semaphore. A pull request is built as a merge; a rerun is a new pipeline, so it has a new build id."""

from __future__ import annotations

from typing import Mapping

from flakeboard.ci.facts import Facts, count, first, shard


def is_here(environ: Mapping[str, str]) -> bool:
    return environ.get("SEMAPHORE") == "true" and bool(environ.get("SEMAPHORE_WORKFLOW_ID"))


def facts(environ: Mapping[str, str]) -> Facts:
    get = environ.get
    built, head = get("SEMAPHORE_GIT_SHA", ""), get("SEMAPHORE_GIT_PR_SHA", "")
    address, job = get("SEMAPHORE_ORGANIZATION_URL", "").rstrip("/"), get("SEMAPHORE_JOB_ID", "")
    branch = (get("SEMAPHORE_GIT_PR_BRANCH"), get("SEMAPHORE_GIT_WORKING_BRANCH"), get("SEMAPHORE_GIT_BRANCH"))
    return Facts(
        system="Semaphore",
        commit=first(head, built),
        merged_commit=built if head and head != built else "",
        branch=first(*branch, get("SEMAPHORE_GIT_TAG_NAME")),
        pull_request=get("SEMAPHORE_GIT_PR_NUMBER", ""),
        build_id=first(get("SEMAPHORE_PIPELINE_ID"), get("SEMAPHORE_WORKFLOW_ID")),
        build_url=f"{address}/jobs/{job}" if address and job else "",
        job=get("SEMAPHORE_JOB_NAME", ""),
        shard=shard(count(environ, "SEMAPHORE_JOB_INDEX"), count(environ, "SEMAPHORE_JOB_COUNT"), first=1),
        environment={"machine": get("SEMAPHORE_AGENT_MACHINE_TYPE", "")} if get("SEMAPHORE_AGENT_MACHINE_TYPE") else {},
    )
