"""Metadata of a run: from options, else our variables, else CI, else git; cut to the lengths that servers accept."""

from __future__ import annotations

import os
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
    "default_branch": 255,
    "pull_request": 64,
    "build_id": 255,
    "build_url": 2_000,
    "job": 255,
    "shard": 64,
    "host": 255,
    "started_at": 64,
    "order": 16,
    "truncated": 500,
}
_UNSENT, _UNSENT_LENGTH = 100, 500
"""How many unsent files are named at most, and in how many characters each."""
DOUBTS = ("truncated", "unsent")
"""Fields that cast doubt on the results: a pass from a server that does not know them does not count."""
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
"""Fields that an option can set in place of CI."""
VARIABLES = {"build_id": "FLAKEBOARD_BUILD_ID", "job": "FLAKEBOARD_JOB"}
"""What a command and the plugin in a runner that it starts must agree on, since they name a split by it."""
_PAIRS = 32


def collect(
    options: Mapping[str, Any] | None = None,
    pairs: Iterable[str] = (),
    environ: Mapping[str, str] | None = None,
) -> dict[str, Any]:
    """Everything known of this run, without empty values. `pairs` are name=value."""
    environ = os.environ if environ is None else environ
    facts = facts_from(environ)
    values = _from_ci(facts)
    for given in ({name: environ.get(variable, "").strip() for name, variable in VARIABLES.items()}, options or {}):
        values.update({name: value for name, value in given.items() if value})
    values["environment"] = _environment(facts, pairs, environ)
    return clipped(values)


def _from_ci(facts: Facts) -> dict[str, Any]:
    """CI's values, and git's where CI has none. Without a tree the revision is the merge that was built."""
    (tree, checked_out, branch), inside = git.head(), bool(facts.system)
    commit = facts.commit if tree or not facts.merged_commit else facts.merged_commit
    return {
        "commit": commit or checked_out,
        "tree": tree,
        "branch": facts.branch or ("" if inside else branch),
        "default_branch": facts.default_branch,
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
    """The operating system, CI's matrix, FLAKEBOARD_ENVIRONMENT and options; the later wins."""
    written = [pair for pair in environ.get("FLAKEBOARD_ENVIRONMENT", "").split(",") if pair.strip()]
    return {"os": _system(), **facts.environment, **pairs_of([*written, *pairs])}


def _system() -> str:
    """As `platform.system()` says it, which takes longer to load than all else of this module."""
    return os.uname().sysname if hasattr(os, "uname") else "Windows"


def pairs_of(written: Iterable[str]) -> dict[str, str]:
    """Parse several name=value."""
    return dict(map(_pair, written))


def _pair(written: str) -> tuple[str, str]:
    name, sign, value = written.partition("=")
    if not sign or not name.strip():
        raise Problem("--env and FLAKEBOARD_ENVIRONMENT take name=value, such as python=3.12.")
    return name.strip()[:64], value.strip()[:255]


def clipped(values: Mapping[str, Any]) -> dict[str, Any]:
    """Cut each value to what the server stores: a long branch name must not cost the results."""
    kept: dict[str, Any] = {}
    for name, value in values.items():
        if isinstance(value, str):
            value = _storable(value)[: _LONGEST.get(name, 255)]
        elif isinstance(value, list):
            value = _clipped_list(value)
        elif isinstance(value, dict):
            value = {_storable(key): _storable(inner) for key, inner in list(value.items())[:_PAIRS] if inner}
        if value:
            kept[name] = value
    return kept


def _clipped_list(values: list[str]) -> list[str]:
    """As many values as the server stores; the last says how many more there are."""
    distinct = list(dict.fromkeys(_storable(value)[:_UNSENT_LENGTH] for value in values))
    if len(distinct) <= _UNSENT:
        return distinct
    return [*distinct[: _UNSENT - 1], f"and {len(distinct) - _UNSENT + 1:,} more"]


def _storable(text: str) -> str:
    return text.replace("\0", "").encode("utf-8", "replace").decode("utf-8")
