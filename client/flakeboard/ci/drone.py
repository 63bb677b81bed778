"""Drone, and systems that set the same variables."""

from __future__ import annotations

from typing import Mapping

from flakeboard.ci.facts import Facts, first, variants


def is_here(environ: Mapping[str, str]) -> bool:
    return environ.get("DRONE") == "true"


def facts(environ: Mapping[str, str]) -> Facts:
    get = environ.get
    return Facts(
        system="Drone",
        commit=first(get("DRONE_COMMIT_SHA"), get("DRONE_COMMIT")),
        default_branch=get("DRONE_REPO_BRANCH", ""),
        branch=first(get("DRONE_SOURCE_BRANCH"), get("DRONE_COMMIT_BRANCH"), get("DRONE_BRANCH")),
        pull_request=get("DRONE_PULL_REQUEST", ""),
        build_id="/".join(filter(None, (get("DRONE_REPO"), get("DRONE_BUILD_NUMBER")))),
        build_url=get("DRONE_BUILD_LINK", ""),
        job=" ".join(filter(None, (get("DRONE_STAGE_NAME"), get("DRONE_STEP_NAME")))),
        environment=variants(environ, {"os": "DRONE_STAGE_OS", "arch": "DRONE_STAGE_ARCH"}),
        host=get("DRONE_STAGE_MACHINE", ""),
    )
