"""Bitbucket Pipelines. Parallel steps are numbered from 0."""

from __future__ import annotations

from typing import Mapping

from flakeboard.ci.facts import Facts, count, first, shard


def is_here(environ: Mapping[str, str]) -> bool:
    return bool(environ.get("BITBUCKET_BUILD_NUMBER"))


def facts(environ: Mapping[str, str]) -> Facts:
    get = environ.get
    number, repository = get("BITBUCKET_BUILD_NUMBER", ""), get("BITBUCKET_REPO_FULL_NAME", "")
    return Facts(
        system="Bitbucket Pipelines",
        commit=get("BITBUCKET_COMMIT", ""),
        branch=first(get("BITBUCKET_BRANCH"), get("BITBUCKET_TAG")),
        pull_request=get("BITBUCKET_PR_ID", ""),
        build_id=first(get("BITBUCKET_PIPELINE_UUID"), number),
        build_url=f"https://bitbucket.org/{repository}/pipelines/results/{number}" if repository else "",
        attempt=count(environ, "BITBUCKET_STEP_RUN_NUMBER") or 1,
        job=_job(environ),
        shard=shard(count(environ, "BITBUCKET_PARALLEL_STEP"), count(environ, "BITBUCKET_PARALLEL_STEP_COUNT")),
    )


def _job(environ: Mapping[str, str]) -> str:
    """The step's name; none for parallel steps, which the shard tells apart."""
    return "" if environ.get("BITBUCKET_PARALLEL_STEP") else environ.get("BITBUCKET_STEP_NAME", "")
