"""Which CI are we in, and what does it say of this run? One module a system; the first that knows itself answers."""

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
"""Jenkins last: others set some of its variables."""


def facts_from(environ: Mapping[str, str]) -> Facts:
    """What CI says of this run; empty outside of any CI that we know."""
    for system in _SYSTEMS:
        if system.is_here(environ):
            return system.facts(environ)
    return Facts()
