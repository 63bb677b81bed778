"""Where a quarantine holds: on which branches and in which environments. Pure."""

from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase

Environments = Mapping[str, str | Sequence[str]]
"""Name -> the value, or the values, that it may have."""


def covers(branches: Sequence[str], environments: Environments, branch: str, environment: Mapping[str, str]) -> bool:
    """Whether a run is within the scope; what is left empty leaves nothing out."""
    return _on(branches, branch) and all(_in(values, environment.get(name)) for name, values in environments.items())


def _on(branches: Sequence[str], branch: str) -> bool:
    return not branches or any(fnmatchcase(branch, pattern) for pattern in branches if _asks_about(pattern, branch))


def _asks_about(pattern: str, branch: str) -> bool:
    """Pull requests are not among the branches that `*` or `*/*` stand for: who means them writes `pull/`."""
    return pattern.startswith(_PULL) or not branch.startswith(_PULL)


def _in(values: str | Sequence[str], value: str | None) -> bool:
    return value is not None and (value == values if isinstance(values, str) else value in values)


_PULL = "pull/"


def branch_name(branch: str, pull_request: str, default_branch: str, *, untrusted: bool = False) -> str:
    """The branch that scopes are asked about.

    Whoever opens a pull request chooses its branch's name: called `release/x` it gets nothing that holds there."""
    if pull_request or untrusted:
        return f"{_PULL}{pull_request or 'unknown'}"
    return branch or default_branch
