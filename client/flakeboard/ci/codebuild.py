"""AWS CodeBuild. Every build of a batch, and every retry, has a build id of its own."""

from __future__ import annotations

from typing import Mapping

from flakeboard.ci.facts import Facts, first, moment, without


def is_here(environ: Mapping[str, str]) -> bool:
    return bool(environ.get("CODEBUILD_BUILD_ID"))


def facts(environ: Mapping[str, str]) -> Facts:
    get = environ.get
    project, _, _ = get("CODEBUILD_BUILD_ID", "").partition(":")
    kind, _, name = first(get("CODEBUILD_WEBHOOK_TRIGGER"), get("CODEBUILD_SOURCE_VERSION")).partition("/")
    head = without("refs/heads/", get("CODEBUILD_WEBHOOK_HEAD_REF", ""))
    return Facts(
        system="CodeBuild",
        commit=get("CODEBUILD_RESOLVED_SOURCE_VERSION", ""),
        branch=first(head, name if kind in ("branch", "tag") else ""),
        pull_request=name if kind == "pr" else "",
        build_id=get("CODEBUILD_BUILD_ID", ""),
        build_url=get("CODEBUILD_BUILD_URL", ""),
        job=" ".join(filter(None, (project, get("CODEBUILD_BATCH_BUILD_IDENTIFIER")))),
        environment={"image": get("CODEBUILD_BUILD_IMAGE", "")} if get("CODEBUILD_BUILD_IMAGE") else {},
        started_at=moment(environ, "CODEBUILD_START_TIME", 1_000),
    )
