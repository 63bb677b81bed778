"""What a CI can say of a run, in the words of the upload API."""

from __future__ import annotations

from dataclasses import dataclass, field
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
    merged_commit: str = ""
    """The commit that was really built where `commit` is its head: a merge that the CI made for the pull request."""


def count(environ: Mapping[str, str], name: str) -> int | None:
    """A variable that is a whole number."""
    written = environ.get(name, "").strip()
    return int(written) if written.isdigit() and len(written) < 10 else None


def shard(index: int | None, total: int | None, first: int = 0) -> str:
    """`3/8`, or nothing where there is one part only; `first` is the index of the first part."""
    if index is None or total is None or total < 2:
        return ""
    return f"{index - first + 1}/{total}"


def first(*values: str | None) -> str:
    """The first that says anything."""
    return next((value for value in values if value), "")


def variants(environ: Mapping[str, str], names: Mapping[str, str]) -> dict[str, str]:
    """Parts of the environment that stand in variables: what it is called -> the variable."""
    return {name: environ[variable] for name, variable in names.items() if environ.get(variable)}


def last_step(address: str) -> str:
    """The number at the end of a pull request's address."""
    return address.rstrip("/").rpartition("/")[2]


def without(prefix: str, text: str) -> str:
    return text[len(prefix) :] if text.startswith(prefix) else text
