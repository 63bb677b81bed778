"""The CI that we run in and its facts about this run: a module for each system, of which the first match answers."""

from __future__ import annotations

from typing import Mapping

from flakeboard.ci import (
    appveyor,
    azure,
    bitbucket,
    buildkite,
    circleci,
    cirrus,
    codebuild,
    drone,
    github,
    gitlab,
    jenkins,
    semaphore,
    teamcity,
    travis,
    woodpecker,
)
from flakeboard.ci.facts import Facts

_SYSTEMS = (
    *(github, gitlab, circleci, buildkite, azure, travis, semaphore, appveyor, cirrus),
    *(woodpecker, drone, bitbucket, teamcity, codebuild, jenkins),
)
"""Jenkins is last, because others set some of its variables; Woodpecker comes before Drone for the same reason."""


def facts_from(environ: Mapping[str, str]) -> Facts:
    """CI's facts about this run; empty outside a known CI."""
    for system in _SYSTEMS:
        if system.is_here(environ):
            return system.facts(environ)
    return Facts()
