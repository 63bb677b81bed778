"""TeamCity. Most facts are in a properties file whose path is in a variable."""

from __future__ import annotations

import re
from typing import Mapping

from flakeboard.ci.facts import Facts, first, without

_PAIR = re.compile(r"\s*([^#!=:\s][^=:\s]*)\s*[=:]\s*(.*)")


def is_here(environ: Mapping[str, str]) -> bool:
    return bool(environ.get("TEAMCITY_VERSION"))


def facts(environ: Mapping[str, str]) -> Facts:
    build = _properties(environ.get("TEAMCITY_BUILD_PROPERTIES_FILE", ""))
    configuration = _properties(build.get("teamcity.configuration.properties.file", ""))
    branch, default = _branches(configuration, environ)
    number = configuration.get("teamcity.pullRequest.number", "")
    server, build_id = configuration.get("teamcity.serverUrl", ""), build.get("teamcity.build.id", "")
    return Facts(
        system="TeamCity",
        commit=first(build.get("build.vcs.number"), environ.get("BUILD_VCS_NUMBER")),
        branch=branch,
        default_branch=default,
        pull_request=number,
        build_id=first(build_id, environ.get("BUILD_NUMBER")),
        build_url="{}/build/{}".format(server.rstrip("/"), build_id)
        if server and build_id
        else environ.get("BUILD_URL", ""),
        job=first(environ.get("TEAMCITY_BUILDCONF_NAME"), build.get("teamcity.buildType.id")),
        host=first(build.get("agent.name"), configuration.get("system.agent.name")),
    )


def _branches(configuration: Mapping[str, str], environ: Mapping[str, str]) -> tuple[str, str]:
    """The branch and the default branch. `<default>` is the branch that the VCS root names."""
    source = configuration.get("teamcity.pullRequest.source.branch")
    written = first(source, configuration.get("teamcity.build.branch"), environ.get("TEAMCITY_BUILD_BRANCH"))
    root = without("refs/heads/", configuration.get("vcsroot.branch", ""))
    default = "" if "%" in root else root
    if written == "<default>":
        return default, default
    branch = without("refs/heads/", written)
    if not source and configuration.get("teamcity.build.branch.is_default") == "true":
        return branch, first(default, branch)
    return branch, default


def _properties(path: str) -> dict[str, str]:
    """Parse a Java properties file as TeamCity writes it: a pair a line, with `:` and `=` escaped in values."""
    try:
        with open(path, encoding="latin-1") as file:
            pairs = [found.groups() for found in map(_PAIR.match, file) if found]
    except OSError:
        return {}
    return {name: re.sub(r"\\(.)", r"\1", value.strip()) for name, value in pairs}
