"""The names of a pytest node id, as in pytest's own report."""

from __future__ import annotations

import re


def names_of(node_id: str) -> tuple[str, str]:
    """The class and name of a node id."""
    path, bracket, parameters = node_id.partition("[")
    parts = path.split("::")
    parts[0] = re.sub(r"\.py\Z", "", parts[0].replace("/", "."))
    parts[-1] += bracket + parameters
    return ".".join(parts[:-1]), parts[-1]


def file_of(node_id: str) -> str:
    return node_id.partition("::")[0]


def key_of(classname: str, name: str) -> str:
    """A test as one string, which xdist can pass to a worker."""
    return f"{classname}\n{name}"
