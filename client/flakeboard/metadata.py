"""What is told of a run: what options say, else CI, else git; cut to what the server takes."""

from __future__ import annotations

import os
import platform
import socket
from typing import Any, Iterable, Mapping

from flakeboard import git
from flakeboard.ci import facts_from
from flakeboard.ci.facts import Facts
from flakeboard.problems import Problem

_LONGEST = {
    "commit": 64,
    "tree": 64,
    "branch": 255,
    "pull_request": 64,
    "build_id": 255,
    "build_url": 2_000,
    "job": 255,
    "shard": 64,
    "host": 255,
    "started_at": 64,
    "order": 16,
}
OPTIONS = (
    "commit",
    "tree",
    "branch",
    "pull_request",
    "build_id",
    "build_url",
    "attempt",
    "job",
    "shard",
    "host",
    "order",
    "fork",
)
"""What an option can say in place of CI."""
_PAIRS = 32


def collect(
    said: Mapping[str, Any] | None = None,
    pairs: Iterable[str] = (),
    environ: Mapping[str, str] | None = None,
) -> dict[str, Any]:
    """Everything known of this run, without what is empty. `said` are options, `pairs` are name=value."""
    environ = os.environ if environ is None else environ
    facts = facts_from(environ)
    values = {**_from_ci(facts), **{name: value for name, value in (said or {}).items() if value}}
    values["environment"] = _environment(facts, pairs, environ)
    return clipped(values)


def _from_ci(facts: Facts) -> dict[str, Any]:
    """CI's words, and git's where CI is silent. Without a tree the revision is the merge that was built."""
    tree, inside = git.tree(), bool(facts.system)
    commit = facts.commit if tree or not facts.merged_commit else facts.merged_commit
    return {
        "commit": commit or git.commit(),
        "tree": tree,
        "branch": facts.branch or ("" if inside else git.branch()),
        "pull_request": facts.pull_request,
        "build_id": facts.build_id,
        "build_url": facts.build_url if facts.build_url.startswith(("http://", "https://")) else "",
        "attempt": facts.attempt,
        "job": facts.job,
        "shard": facts.shard,
        "host": facts.host or ("" if inside else socket.gethostname()),
        "started_at": facts.started_at,
    }


def _environment(facts: Facts, pairs: Iterable[str], environ: Mapping[str, str]) -> dict[str, str]:
    """The system, what CI says of its matrix, FLAKEBOARD_ENVIRONMENT, and options: what comes later wins."""
    written = [pair for pair in environ.get("FLAKEBOARD_ENVIRONMENT", "").split(",") if pair.strip()]
    return {"os": platform.system(), **facts.environment, **pairs_of([*written, *pairs])}


def pairs_of(written: Iterable[str]) -> dict[str, str]:
    """name=value, several times."""
    return dict(map(_pair, written))


def _pair(written: str) -> tuple[str, str]:
    name, sign, value = written.partition("=")
    if not sign or not name.strip():
        raise Problem("--env and FLAKEBOARD_ENVIRONMENT take name=value, such as python=3.12.")
    return name.strip()[:64], value.strip()[:255]


def clipped(values: Mapping[str, Any]) -> dict[str, Any]:
    """As much of each value as the server stores: a long branch name must not lose the results."""
    kept: dict[str, Any] = {}
    for name, value in values.items():
        if isinstance(value, str):
            value = _storable(value)[: _LONGEST.get(name, 255)]
        elif isinstance(value, dict):
            value = {_storable(key): _storable(inner) for key, inner in list(value.items())[:_PAIRS] if inner}
        if value:
            kept[name] = value
    return kept


def _storable(text: str) -> str:
    return text.replace("\0", "").encode("utf-8", "replace").decode("utf-8")
