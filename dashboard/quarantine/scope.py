"""Where a quarantine holds: on which branches and in which environments. Pure."""

from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase

Environments = Mapping[str, str | Sequence[str]]
"""Name -> the value, or the values, that it may have."""


def covers(branches: Sequence[str], environments: Environments, branch: str, environment: Mapping[str, str]) -> bool:
    """Whether a run is within the scope; what is left empty leaves nothing out."""
    return _on(branches, branch) and all(_in(values, environment.get(name)) for name, values in environments.items())


def _on(branches: Sequence[str], branch: str) -> bool:
    return not branches or any(fnmatchcase(branch, pattern) for pattern in branches)


def _in(values: str | Sequence[str], value: str | None) -> bool:
    return value is not None and (value == values if isinstance(values, str) else value in values)


def branch_name(branch: str, pull_request: str, default_branch: str) -> str:
    """The branch that scopes are asked about.

    A pull request may come from a branch that is called as the default one is: it is not that branch."""
    if not pull_request:
        return branch or default_branch
    return f"pull/{pull_request}" if branch in ("", default_branch) else branch
