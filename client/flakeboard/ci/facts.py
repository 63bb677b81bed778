"""Facts that a CI knows about a run, named as in the upload API."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime, timezone
from typing import Mapping


@dataclass
class Facts:
    system: str = ""
    """The CI's name, for people."""
    commit: str = ""
    branch: str = ""
    pull_request: str = ""
    build_id: str = ""
    build_url: str = ""
    attempt: int = 1
    job: str = ""
    shard: str = ""
    environment: dict[str, str] = field(default_factory=dict)
    host: str = ""
    started_at: str = ""
    default_branch: str = ""
    """The repository's default branch, if the CI knows it."""
    merged_commit: str = ""
    """The commit that was built if it is not `commit`: the merge that the CI made for the pull request."""


def count(environ: Mapping[str, str], name: str) -> int | None:
    """The value of a variable that is a whole number."""
    written = environ.get(name, "").strip()
    return int(written) if written.isdigit() and len(written) < 10 else None


def shard(index: int | None, total: int | None, first: int = 0) -> str:
    """`3/8`, or empty if there is only one shard; `first` is the index of the first shard."""
    if index is None or total is None or total < 2:
        return ""
    return f"{index - first + 1}/{total}"


def first(*values: str | None) -> str:
    """The first value that is not empty."""
    return next((value for value in values if value), "")


def moment(environ: Mapping[str, str], name: str, units: int = 1) -> str:
    """A variable that counts from 1970, in `units` of a second, as a time with its zone."""
    written = environ.get(name, "").strip()
    if not (written.isdigit() and len(written) < 16):
        return ""
    try:
        return datetime.fromtimestamp(int(written) / units, timezone.utc).isoformat()
    except (ValueError, OverflowError, OSError):
        return ""


def variants(environ: Mapping[str, str], names: Mapping[str, str]) -> dict[str, str]:
    """Parts of the environment from variables; `names` maps a part's name to its variable."""
    return {name: environ[variable] for name, variable in names.items() if environ.get(variable)}


def last_step(address: str) -> str:
    """The number at the end of a pull request's URL."""
    return address.rstrip("/").rpartition("/")[2]


def without(prefix: str, text: str) -> str:
    return text[len(prefix) :] if text.startswith(prefix) else text
