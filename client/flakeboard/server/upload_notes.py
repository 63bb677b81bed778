"""The server's remarks on the files of an upload: errors, damage, and tests merged because their names are equal."""

from __future__ import annotations

from typing import Any, Iterator

from flakeboard.console import plain

_SHOWN = 20
MERGED = "merged_names"
"""The server's code for tests that it merged because their names are equal."""
_READ = "processed"


def not_read(upload: dict[str, Any], waited: bool = False) -> list[str]:
    """Lines about files that were not read; if we waited for the server, also that it took too long."""
    state = str(upload.get("state") or "")
    lines = list(_of_files(upload))
    error = upload.get("error")
    if isinstance(error, dict):
        lines.insert(0, plain(error.get("sentence") or error.get("code")))
    if waited and state != _READ and not lines:
        lines.append(f"the upload was not read in time (state: {plain(state) or 'unknown'})")
    return lines if len(lines) <= _SHOWN else [*lines[:_SHOWN], f"and {len(lines) - _SHOWN:,} more"]


def merged_names(upload: dict[str, Any]) -> list[str]:
    """Lines about tests that were merged."""
    merged = [(file, note) for file, note in _warnings(upload) if note.get("code") == MERGED]
    return [plain(f"{_path(file)}: {note.get('sentence')}") for file, note in merged]


def _of_files(upload: dict[str, Any]) -> Iterator[str]:
    for file in _objects(upload.get("files")):
        error = file.get("error")
        if isinstance(error, dict):
            yield plain(f"{_path(file)}: {error.get('sentence') or error.get('code')}")
        elif file.get("partial") is True:
            yield plain(f"{_path(file)}: damaged; everything after the damage was ignored")


def _warnings(upload: dict[str, Any]) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
    for file in _objects(upload.get("files")):
        for note in _objects(file.get("warnings")):
            yield file, note


def _path(file: dict[str, Any]) -> str:
    return str(file.get("path") or "a file")


def _objects(value: Any) -> list[dict[str, Any]]:
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []
