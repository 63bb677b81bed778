"""The CI that we run in and its facts about this run: a module for each system, of which the first match answers."""

from __future__ import annotations

from typing import Mapping

from flakeboard.ci import (
    azure,
    bitbucket,
    buildkite,
    circleci,
    drone,
    github,
    gitlab,
    jenkins,
    teamcity,
    travis,
)
from flakeboard.ci.facts import Facts

_SYSTEMS = (github, gitlab, circleci, buildkite, azure, travis, drone, bitbucket, teamcity, jenkins)
"""Jenkins is last, because others set some of its variables."""


def facts_from(environ: Mapping[str, str]) -> Facts:
    """CI's facts about this run; empty outside a known CI."""
    for system in _SYSTEMS:
        if system.is_here(environ):
            return system.facts(environ)
    return Facts()
