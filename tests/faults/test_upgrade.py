"""From the release before, with data in it, while that release goes on serving: nothing lost, nothing locked."""

import gzip
import hashlib
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psycopg2
import pytest
from psycopg2 import errors, sql

from dashboard.embedded import Cluster
from dashboard.management.commands import migrations_safe
from dashboard.migration_safety import dangers, statements_of
from tests.conftest import ROOT
from tests.data.release.make import TOKEN
from tests.faults.server import Server, running, suite, until

pytestmark = pytest.mark.processes
DUMP = ROOT / "tests" / "data" / "release" / "database.sql.gz"
KEPT = (
    "ingest_project",
    "ingest_token",
    "ingest_upload",
    "ingest_uploadchunk",
    "ingest_run",
    "ingest_test",
    "ingest_roster",
    "ingest_report",
    "ingest_failure",
    "ingest_signature",
    "ingest_attempt",
    "auth_user",
)
"""Tables of which every value that was there must still be there."""


class Release:
    """The database of the release before, in a home of its own, and what was in it."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.cluster = Cluster(home)
        self.cluster.start()
        with self._connection() as connection, connection.cursor() as cursor:
            cursor.execute(gzip.decompress(DUMP.read_bytes()).decode())
        connection.close()
        self.columns = {table: self._columns(table) for table in KEPT}
        self.before = self.contents()

    def _connection(self) -> "psycopg2.extensions.connection":
        connection = self.cluster.connect()
        with connection.cursor() as cursor:
            cursor.execute("SET search_path = public")
        return connection

    def _columns(self, table: str) -> list[str]:
        asked = "SELECT column_name FROM information_schema.columns WHERE table_name = %s ORDER BY 1"
        return [name for (name,) in self.query(asked, table)]

    def query(self, statement: Any, *values: object) -> list[tuple[Any, ...]]:
        connection = self._connection()
        try:
            with connection.cursor() as cursor:
                cursor.execute(statement, values)
                return list(cursor.fetchall())
        finally:
            connection.close()

    def contents(self) -> dict[str, tuple[int, str]]:
        """Table -> rows, and a digest of all that the release before knew of them."""
        found = {}
        for table, columns in self.columns.items():
            names = sql.SQL(", ").join(map(sql.Identifier, columns))
            rows = self.query(sql.SQL("SELECT {} FROM {} ORDER BY id").format(names, sql.Identifier(table)))
            readable = [[bytes(cell) if isinstance(cell, memoryview) else cell for cell in row] for row in rows]
            found[table] = len(rows), hashlib.sha256(repr(readable).encode()).hexdigest()
        return found

    def insert_as_before(self, table: str) -> None:
        """A row with the columns that the release before knows: a value that it lacks is seen before a rule of once."""
        names = sql.SQL(", ").join(map(sql.Identifier, self.columns[table]))
        statement = sql.SQL("INSERT INTO {0} ({1}) SELECT {1} FROM {0} LIMIT 1").format(sql.Identifier(table), names)
        connection = self._connection()
        try:
            with connection.cursor() as cursor:
                cursor.execute(statement)
        except errors.UniqueViolation:
            pass
        finally:
            connection.rollback()
            connection.close()


@pytest.fixture(scope="module")
def release(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Release]:
    made = Release(tmp_path_factory.mktemp("release"))
    yield made
    made.cluster.stop()


@pytest.fixture(scope="module")
def upgraded(release: Release) -> Iterator[Server]:
    """This code on that database, started as people start it: the tables are brought up to date on the way."""
    with running(release.home, token=_token(), ANALYSIS_DELAY_SECONDS="0") as server:
        yield server


def _token() -> str:
    from ingest.tokens import _checksum

    return TOKEN + _checksum(TOKEN)


def test_all_that_was_there_is_there_after_the_upgrade(release: Release, upgraded: Server) -> None:
    assert release.before["ingest_report"][0] > 20
    assert release.contents() == release.before


@pytest.mark.parametrize("table", KEPT)
def test_the_release_before_can_still_write(release: Release, upgraded: Server, table: str) -> None:
    release.insert_as_before(table)


def test_pages_and_api_serve_the_old_history_and_take_new_results(release: Release, upgraded: Server) -> None:
    def get(path: str) -> dict[str, Any]:
        address = f"/api/v1/projects/my-project/{path}"
        status, body = upgraded.request("GET", address, Authorization=f"Bearer {upgraded.token}")
        assert status == 200, body
        return dict(json.loads(body))

    tests = release.before["ingest_test"][0]
    until(lambda: len(get("tests?page_size=500")["results"]) == tests, 120, "the old history is analysed and listed")
    sent = upgraded.send_until_accepted(suite(3, cases=50), "build_id=after")
    until(lambda: get(f"uploads/{sent}")["state"] == "processed", 60, "the new upload is processed")


def test_a_table_in_use_makes_the_upgrade_wait_and_nobody_else(release: Release, upgraded: Server) -> None:
    """It gives up after two seconds each time: those who queue behind it are held no longer than that."""
    connection = release.cluster.connect()
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_lock(1)")
        cursor.execute("LOCK TABLE public.django_migrations IN ACCESS EXCLUSIVE MODE")
        environment = upgraded._environment | {"LOG_LEVEL": "ERROR"}
        command = [sys.executable, "manage.py", "upgrade", "--lock-seconds=1", "--tries=1"]
        done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=120)
    connection.close()
    assert done.returncode == 1
    assert done.stderr.strip().splitlines()[-1].startswith("flakeboard: The tables are in use")


# -- the check of migrations -------------------------------------------------------------------------------------


@pytest.mark.django_db
def test_no_migration_since_the_release_would_stop_an_installation() -> None:
    found = [line for app, name in migrations_safe._new() for line in migrations_safe._judge(app, name)]
    assert found == []


@pytest.mark.django_db
def test_the_migrations_of_the_release_are_the_ones_in_its_database(release: Release) -> None:
    applied = set(release.query("SELECT app, name FROM django_migrations"))
    assert migrations_safe.released() <= applied
    assert {app for app, _ in migrations_safe.released()} == {app for app, _ in applied} & migrations_safe.ours()


@pytest.mark.parametrize(
    "harmful",
    [
        'CREATE INDEX "i" ON "ingest_upload" ("state");',
        'CREATE UNIQUE INDEX "i" ON "ingest_run" ("commit");',
        'ALTER TABLE "ingest_report" ALTER COLUMN "tests" TYPE bigint USING "tests"::bigint;',
        'ALTER TABLE "ingest_failure" ALTER COLUMN "text" SET NOT NULL;',
        'ALTER TABLE "ingest_run" ADD CONSTRAINT "c" UNIQUE ("commit");',
        'ALTER TABLE "ingest_run" ADD CONSTRAINT "c" FOREIGN KEY ("project_id") REFERENCES "ingest_project" ("id");',
        'ALTER TABLE "ingest_upload" ADD COLUMN "u" uuid DEFAULT gen_random_uuid() NOT NULL;',
        'ALTER TABLE "ingest_project" ADD COLUMN "x" integer NOT NULL;',
        'ALTER TABLE "ingest_project" ADD COLUMN "x" integer DEFAULT 0 NOT NULL; ALTER TABLE "ingest_project" ALTER COLUMN "x" DROP DEFAULT;',
        'ALTER TABLE "ingest_project" DROP COLUMN "name" CASCADE;',
        'ALTER TABLE "ingest_project" RENAME COLUMN "name" TO "title";',
        'DROP TABLE "ingest_rename" CASCADE;',
    ],
)
def test_what_would_do_harm_is_named(harmful: str) -> None:
    assert list(dangers(statements_of(f"BEGIN;\n--\n-- a comment; with a semicolon\n--\n{harmful}\nCOMMIT;")))


@pytest.mark.parametrize(
    "harmless",
    [
        'CREATE INDEX CONCURRENTLY "i" ON "ingest_upload" ("state");',
        'CREATE INDEX "i" ON "ingest_project" ("name");',
        'ALTER TABLE "ingest_report" ADD COLUMN "x" integer NULL;',
        'ALTER TABLE "ingest_report" ADD COLUMN "x" boolean DEFAULT false NOT NULL;',
        'ALTER TABLE "ingest_run" ADD CONSTRAINT "c" CHECK ("attempt" > 0) NOT VALID;',
        'ALTER TABLE "ingest_run" VALIDATE CONSTRAINT "c";',
        'CREATE TABLE "new" ("id" bigint NOT NULL PRIMARY KEY); ALTER TABLE "new" ADD CONSTRAINT "c" UNIQUE ("id");',
    ],
)
def test_what_does_no_harm_is_let_through(harmless: str) -> None:
    assert list(dangers(statements_of(harmless))) == []
