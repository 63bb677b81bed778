"""PostgreSQL's own programs: which of those on this machine fits the server, and how it is told where that is."""

import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

from django.db import connection

from dashboard.ops.embedded import _binaries as embedded_binaries
from dashboard.ops.environment import BadSetting

_VERSION = re.compile(r"\b(\d{1,3})(?:\.\d|\w|$)")
_SAME_WORDS = 17
"""From here on, what a newer program writes an older server understands."""


def server_major() -> int:
    connection.ensure_connection()
    return int(connection.pg_version) // 10_000


def folder_for(*, writing: bool) -> Path:
    """The folder of programs that fits the server: its own version, or else the oldest newer one that can be used."""
    server = server_major()
    found = {major: folder for folder in _folders() if (major := _major(folder / "pg_dump")) is not None}
    fitting = [
        version
        for version in sorted(found)
        if version == server or (version > server and (not writing or server >= _SAME_WORDS))
    ]
    if not fitting:
        seen = ", ".join(map(str, sorted(found))) or "none"
        raise BadSetting(
            f"The server is PostgreSQL {server}, and no pg_dump and pg_restore that fit it are here (found: {seen}). "
            f"Install its client programs, postgresql-client-{server}, and put them on the PATH."
        )
    return found[fitting[0]]


def _folders() -> Iterator[Path]:
    """The embedded one last, so that it wins where two are of one version."""
    yield from sorted(Path("/usr/lib/postgresql").glob("*/bin"))
    on_path = shutil.which("pg_dump")
    if on_path is not None:
        yield Path(on_path).parent
    try:
        yield embedded_binaries()
    except BadSetting:
        return


def _major(program: Path) -> int | None:
    try:
        answer = subprocess.run([str(program), "--version"], capture_output=True, text=True, timeout=20)
    except (OSError, subprocess.TimeoutExpired):
        return None
    found = _VERSION.search(answer.stdout)
    return int(found[1]) if answer.returncode == 0 and found else None


def how_to_connect() -> tuple[list[str], dict[str, str]]:
    """Arguments and environment; the password is in neither the arguments nor the list of processes."""
    arguments, environment = connection.client.settings_to_cmd_args_env(connection.settings_dict, [])
    *given, name = arguments[1:]  # psql's own: its name is first, and the database last
    return [*given, "--dbname", name], {**os.environ, **(environment or {})}
