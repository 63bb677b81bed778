"""The files of a run in batches: as many uploads as the server's limits require, naming what cannot be sent."""

from __future__ import annotations

import hashlib
from typing import Any, Mapping, Sequence

from flakeboard.console import plain
from flakeboard.metadata import DOUBTS
from flakeboard.problems import Problem, Refused
from flakeboard.reports import files
from flakeboard.server.api import Api
from flakeboard.server.packages import Named, batches, named, pack

BUILD = "build_id"


def readable(paths: Sequence[str]) -> tuple[list[str], list[str]]:
    """The readable files, and a sentence for each unreadable one."""
    problems = {path: files.why_unreadable(path) for path in paths}
    return [path for path in paths if not problems[path]], [
        plain(f"{path}: {why}") for path, why in problems.items() if why
    ]


def grouped(paths: Sequence[str], metadata: dict[str, Any], folder: str = "") -> list[list[Named]]:
    """Group the files, one group for each upload. Several uploads of one run need a shared build id."""
    groups = batches(named(paths, folder))
    if len(groups) > 1:
        metadata.setdefault(BUILD, "upload " + _digest(paths, metadata))
    return groups


def _digest(paths: Sequence[str], metadata: Mapping[str, Any]) -> str:
    """A digest of the run and its files, so that the server recognises a repeated upload."""
    digest = hashlib.sha256(repr(sorted(metadata.items())).encode("utf-8", "replace"))
    for path in paths:
        with open(path, "rb") as file:
            digest.update(hashlib.sha256(file.read()).digest())
    return digest.hexdigest()[:32]


def upload_group(api: Api, group: Sequence[Named], metadata: dict[str, Any]) -> tuple[dict[str, Any], int]:
    """Send a group; returns the upload as the server stored it, and the number of bytes sent."""
    try:
        with pack(group, metadata) as package:
            return api.upload(package), package.size
    except Refused as refused:
        plainer = without_doubts(refused, metadata)
    with pack(group, plainer) as package:
        return api.upload(package), package.size


def send_all(api: Api, paths: Sequence[str], metadata: dict[str, Any], folder: str = "") -> list[Any]:
    """Send all files of a run that has a build id; returns the ids of the uploads."""
    return [upload_group(api, group, metadata)[0].get("id") for group in grouped(paths, metadata, folder)]


def without_doubts(refused: Refused, metadata: dict[str, Any]) -> dict[str, Any]:
    """The metadata for an older server, which refuses unknown fields; any other refusal is raised again."""
    if refused.code != "unknown_field" or not any(name in metadata for name in DOUBTS):
        raise refused
    return {name: value for name, value in metadata.items() if name not in DOUBTS}


def lost(group: Sequence[Named], problem: Problem) -> str:
    """A line about a group that was not sent."""
    first, last = group[0][1], group[-1][1]
    which = first if len(group) == 1 else f"{len(group):,} files from {first} to {last}"
    return plain(f"{which}: not sent: {problem}")
