"""The whole database as one file, and back. The file is a zip: what pg_dump wrote, and a manifest that says what it is.

Both see the same moment: the manifest is counted in the transaction whose snapshot pg_dump reads, while uploads run."""

import json
import subprocess
import tempfile
import threading
import tomllib
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import IO, Any

from django.conf import settings
from django.db import connection, transaction
from django.db.migrations.loader import MigrationLoader
from django.utils import timezone

from dashboard.retention.postgres_programs import folder_for, how_to_connect, server_major

FORMAT = 1
_DUMP, _MANIFEST = "database.dump", "manifest.json"
_PIECE = 1024 * 1024
_EMPTY_FIRST = b"""
SET lock_timeout = '10s';
DROP SCHEMA IF EXISTS public CASCADE;
RESET lock_timeout;
"""


class BackupRefused(Exception):
    """Why a backup cannot be made or restored: a sentence for the person who asked."""


@dataclass(frozen=True, slots=True)
class Manifest:
    format: int
    version: str
    made_at: str
    postgresql: int
    migrations: list[list[str]]
    """App and name of the last ones of each app."""
    counts: dict[str, int]
    """Table -> rows."""


# -- out ---------------------------------------------------------------------------------------------------------


def backup_write(path: Path) -> Manifest:
    """Write the backup; the file has its name only once it is whole."""
    part = path.with_name(path.name + ".part")
    part.unlink(missing_ok=True)
    part.touch(mode=0o600, exist_ok=False)
    try:
        with _snapshot() as (name, manifest), zipfile.ZipFile(part, "w") as archive:
            with archive.open(_DUMP, "w", force_zip64=True) as entry:
                _dump(name, entry)
            archive.writestr(_MANIFEST, json.dumps(asdict(manifest), indent=1))
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)
    return manifest


@contextmanager
def _snapshot() -> Iterator[tuple[str, Manifest]]:
    """A moment that another connection can read too, and what is in the database at it."""
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY")
        cursor.execute("SELECT pg_export_snapshot()")
        yield cursor.fetchone()[0], _manifest()


def _manifest() -> Manifest:
    applied = MigrationLoader(connection).applied_migrations
    last = dict(sorted(applied))
    return Manifest(
        FORMAT,
        _version(),
        timezone.now().isoformat(),
        server_major(),
        [list(migration) for migration in last.items()],
        counts(),
    )


def _version() -> str:
    """Of this code, where its pyproject.toml lies beside it."""
    try:
        return str(tomllib.loads((settings.BASE_DIR / "pyproject.toml").read_text())["project"]["version"])
    except OSError:
        return "unknown"


def tables() -> list[str]:
    with connection.cursor() as cursor:
        cursor.execute("SELECT tablename FROM pg_tables WHERE schemaname = 'public' ORDER BY tablename")
        return [name for (name,) in cursor.fetchall()]


def counts() -> dict[str, int]:
    """Table -> rows, of all tables."""
    counted = {}
    with connection.cursor() as cursor:
        for table in tables():
            cursor.execute(f"SELECT count(*) FROM {connection.ops.quote_name(table)}")  # noqa: S608 - a table's own name
            counted[table] = int(cursor.fetchone()[0])
    return counted


def _dump(snapshot: str, entry: IO[bytes]) -> None:
    where, environment = how_to_connect()
    command = [str(folder_for(writing=False) / "pg_dump"), *where, "--format=custom", "--no-owner", "--no-privileges"]
    with _running(
        [*command, "--schema=public", f"--snapshot={snapshot}"], environment, stdout=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        while piece := process.stdout.read(_PIECE):
            entry.write(piece)


# -- and back ----------------------------------------------------------------------------------------------------


def backup_restore(path: Path, *, replace: bool) -> Manifest:
    """Put the database back as it was: all of it, or nothing is changed."""
    try:
        archive = zipfile.ZipFile(path)
    except (OSError, zipfile.BadZipFile) as error:
        raise BackupRefused(f"{path} cannot be read as a backup: {error}.") from error
    with archive:
        manifest = _read_manifest(archive)
        if tables() and not replace:
            raise BackupRefused("The database is not empty. --replace deletes everything that is in it first.")
        with archive.open(_DUMP) as entry:
            _restore(entry)
    connection.close()  # what it knew of the tables is no longer so
    wrong = {table: (rows, now) for table, rows in manifest.counts.items() if (now := counts().get(table)) != rows}
    if wrong:
        raise BackupRefused(f"The restored tables have other numbers of rows than the backup says: {wrong}.")
    return manifest


def _read_manifest(archive: zipfile.ZipFile) -> Manifest:
    try:
        values = json.loads(archive.read(_MANIFEST))
        manifest = Manifest(**values)
    except (KeyError, ValueError, TypeError) as error:
        raise BackupRefused("This is not a Flakeboard backup: its manifest cannot be read.") from error
    known = MigrationLoader(None).disk_migrations
    newer = [f"{app}.{name}" for app, name in map(tuple, manifest.migrations) if (app, name) not in known]
    if manifest.format != FORMAT or newer:
        what = f"migrations {', '.join(newer)}" if newer else f"format {manifest.format}"
        raise BackupRefused(f"The backup is of another release ({manifest.version}): this one does not know {what}.")
    return manifest


def _restore(entry: IO[bytes]) -> None:
    """pg_restore makes SQL of the dump, and psql runs it in one transaction, after emptying what is there.

    psql is told that this was all, and commits, only once pg_restore has ended well."""
    folder, (where, environment) = folder_for(writing=True), how_to_connect()
    making = [str(folder / "pg_restore"), "--no-owner", "--no-privileges", "--file=-"]
    running = [str(folder / "psql"), *where, "--no-psqlrc", "--quiet", "--single-transaction", "-v", "ON_ERROR_STOP=1"]
    connection.close()
    with _running([*running, "--output=/dev/null"], environment, stdin=subprocess.PIPE) as psql:
        assert psql.stdin is not None
        with suppress(BrokenPipeError):  # psql has ended: its exit says why
            psql.stdin.write(_EMPTY_FIRST)
            with _running(making, environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as pg_restore:
                _make_sql(entry, pg_restore, psql.stdin)
            psql.stdin.close()


def _make_sql(entry: IO[bytes], pg_restore: "subprocess.Popen[bytes]", target: IO[bytes]) -> None:
    """Feed the dump in at one end while the SQL comes out at the other."""
    wrong: list[Exception] = []
    assert pg_restore.stdin is not None
    assert pg_restore.stdout is not None
    feeding = threading.Thread(target=_feed, args=(entry, pg_restore.stdin, wrong), daemon=True)
    feeding.start()
    while piece := pg_restore.stdout.read(_PIECE):
        target.write(piece)
    feeding.join()
    if wrong:
        raise BackupRefused(f"The backup is damaged: {wrong[0]}")


def _feed(source: IO[bytes], target: IO[bytes], wrong: list[Exception]) -> None:
    try:
        while piece := source.read(_PIECE):
            target.write(piece)
        target.close()
    except BrokenPipeError:
        return  # it has ended: its exit says why
    except Exception as error:
        wrong.append(error)
        target.close()


@contextmanager
def _running(command: list[str], environment: dict[str, str], **pipes: Any) -> Iterator["subprocess.Popen[bytes]"]:
    """A program that must end well; what it says of why not is told."""
    with tempfile.TemporaryFile() as errors:
        process = subprocess.Popen(command, env=environment, stderr=errors, **pipes)
        try:
            yield process
            code = process.wait()
        finally:
            process.kill()
            process.wait()
            for pipe in (process.stdin, process.stdout):
                with suppress(OSError):
                    if pipe is not None:
                        pipe.close()
        if code:
            errors.seek(0)
            words = errors.read(10_000).decode(errors="replace").strip().partition("\n")[0] or "it did not say why"
            raise BackupRefused(f"{Path(command[0]).name} ended with {code}: {words}")
