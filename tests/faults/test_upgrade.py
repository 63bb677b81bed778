"""From the release before, with data in it, while that release goes on serving: nothing lost, nothing locked."""

import io
import json
import subprocess
import sys
import threading
from collections.abc import Iterator
from typing import Any

import psycopg2
import pytest
from django.db import OperationalError
from psycopg2 import errors, sql

from dashboard.management.commands import migrations_safe
from dashboard.management.commands import upgrade as upgrade_command
from dashboard.ops.migration_safety import dangers, locked_together, statements_of
from ingest.migration_locks import lock_tables
from tests.conftest import ROOT
from tests.data.release.make import TOKEN
from tests.faults.release import KEPT, REPORTS, TESTS, Release
from tests.faults.server import BUSY, ONE_OF_EACH, Server, running, stretched, suite, until
from tests.homes import furnish_static

pytestmark = pytest.mark.processes
FRESH = {
    "ingest_upload": {"content_digest": "sha256(uuid_send(gen_random_uuid()))", "idempotency_key": "NULL"},
    "ingest_run": {"key": "uuid_send(gen_random_uuid())"},
    "ingest_report": {"content_digest": "sha256(uuid_send(gen_random_uuid()))"},
}
"""What an upload adds a row to, and what must not be there twice."""


PAUSE = 0.1
"""Seconds between rounds: of a project's reports the newest 5,000 are analysed, and the old history must be among them."""


class Serving(threading.Thread):
    """What the release before goes on doing with the database, in its own columns, until it is told to stop.

    It waits for a lock as long as two seconds of a quiet machine: whatever made it wait longer is an error, and so is
    all else that would be a 5xx of that release."""

    def __init__(self, release: Release, transactions: list[list[sql.Composed]], patience: float) -> None:
        super().__init__()
        self._release, self._transactions = release, transactions
        self._enough = threading.Event()
        self._patience = f"{patience:.1f}s"
        self.rounds = 0
        self.errors: list[str] = []

    def run(self) -> None:
        connection = self._release.connection()
        try:
            while not self._enough.is_set():
                for statements in self._transactions:
                    self._do(connection, statements)
                self.rounds += 1
                self._enough.wait(PAUSE)
        except psycopg2.Error as error:
            self.errors.append(str(error))
        finally:
            connection.close()

    def _do(self, connection: "psycopg2.extensions.connection", statements: list[sql.Composed]) -> None:
        with connection, connection.cursor() as cursor:
            cursor.execute("SET lock_timeout = %s", [self._patience])
            for statement in statements:
                cursor.execute(statement)

    def stop(self) -> None:
        self._enough.set()
        self.join()


def reading(release: Release) -> list[list[sql.Composed]]:
    """As pages do: the newest of everything, one statement after the other. Few rows, of which some are large."""
    asked = sql.SQL("SELECT {} FROM {} ORDER BY id DESC LIMIT 3")
    return [[asked.format(release.names(table), sql.Identifier(table))] for table in KEPT]


def writing(release: Release) -> list[list[sql.Composed]]:
    """As an upload does: a row for it, its run and its report, in one transaction."""
    statements = []
    for table, fresh in FRESH.items():
        columns = [column for column in release.columns[table] if column != "id"]
        taken = [sql.SQL(fresh[column]) if column in fresh else sql.Identifier(column) for column in columns]
        statements.append(
            sql.SQL("INSERT INTO {} ({}) SELECT {} FROM {} ORDER BY id LIMIT 1").format(
                sql.Identifier(table),
                sql.SQL(", ").join(map(sql.Identifier, columns)),
                sql.SQL(", ").join(taken),
                sql.Identifier(table),
            )
        )
    return [statements]


def upgrade(server: Server, *options: str) -> "subprocess.CompletedProcess[str]":
    command = [sys.executable, "manage.py", "upgrade", *options]
    environment = server._environment | {"LOG_LEVEL": "ERROR"}
    return subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=120 * BUSY)


@pytest.fixture(scope="module")
def release(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Release]:
    made = Release(tmp_path_factory.mktemp("release"))
    yield made
    made.cluster.stop()


@pytest.fixture(scope="module")
def applied(release: Release) -> set[tuple[Any, ...]]:
    """The migrations that the release came with, before a test brings its tables up to date."""
    return set(release.query("SELECT app, name FROM django_migrations"))


@pytest.fixture(scope="module")
def served(release: Release, applied: set[tuple[Any, ...]]) -> list[Serving]:
    """The release before, after the tables were brought up to date under its feet."""
    patience = stretched(2)
    serving = [Serving(release, work(release), patience) for work in (reading, reading, writing, writing)]
    for one in serving:
        one.start()
    try:
        until(lambda: all(one.rounds for one in serving), 30, "all of them are at work")
        done = upgrade(Server(release.home))
    finally:
        for one in serving:
            one.stop()
    assert done.returncode == 0, done.stderr
    return serving


@pytest.fixture(scope="module")
def upgraded(release: Release, served: list[Serving]) -> Iterator[Server]:
    """This code on that database, started as people start it; its static files were made before all tests."""
    furnish_static(release.home)
    with running(release.home, token=_token(), ANALYSIS_DELAY_SECONDS="0", **ONE_OF_EACH) as server:
        yield server


def _token() -> str:
    from ingest.tokens import _checksum

    return TOKEN + _checksum(TOKEN)


def test_with_ten_million_results_under_load_nobody_fails_or_waits_for_the_upgrade(
    release: Release, served: list[Serving]
) -> None:
    """The code of the release before is not here: what it does to the database is done without it."""
    assert release.query("SELECT sum(tests) FROM ingest_report WHERE untrusted = false")[0][0] > REPORTS * TESTS
    assert [one.errors for one in served] == [[]] * len(served)
    assert all(one.rounds > 3 for one in served), "there was no load to speak of"


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

    tests = release.query("SELECT test_count FROM ingest_project WHERE slug = 'my-project'")[0][0]
    until(lambda: len(get("tests?page_size=500")["results"]) == tests, 120, "the old history is analysed and listed")
    sent = upgraded.send_until_accepted(suite(3, cases=50), "build_id=after")
    until(lambda: get(f"uploads/{sent}")["state"] == "processed", 60, "the new upload is processed")


def test_a_table_in_use_makes_the_upgrade_wait_and_nobody_else(release: Release, upgraded: Server) -> None:
    """It gives up after two seconds each time: those who queue behind it are held no longer than that."""
    connection = release.cluster.connect()
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_lock(1)")
        cursor.execute("LOCK TABLE public.django_migrations IN ACCESS EXCLUSIVE MODE")
        done = upgrade(upgraded, "--lock-seconds=1", "--tries=1")
    connection.close()
    assert done.returncode == 1
    assert done.stderr.strip().splitlines()[-1].startswith("flakeboard: The tables are in use")


# -- the check of migrations -------------------------------------------------------------------------------------


@pytest.mark.django_db
def test_no_migration_since_the_release_would_stop_an_installation() -> None:
    found = [line for app, name in migrations_safe._new() for line in migrations_safe._judge(app, name)]
    assert found == []


@pytest.mark.django_db
def test_the_migrations_of_the_release_are_the_ones_in_its_database(applied: set[tuple[Any, ...]]) -> None:
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


def test_tables_that_are_locked_together_are_named() -> None:
    both = 'ALTER TABLE "ingest_run" ADD COLUMN "x" integer NULL;\nALTER TABLE "ingest_report" ADD COLUMN "x" integer NULL;'
    (named,) = locked_together(f"BEGIN;\n{both}\nCOMMIT;")
    assert named.startswith("ingest_report, ingest_run: locked together")
    assert not list(locked_together(both)), "each is a transaction of its own"
    assert not list(locked_together('BEGIN;\nALTER TABLE "ingest_run" ADD COLUMN "x" integer NULL;\nCOMMIT;'))


def test_a_foreign_key_locks_the_table_that_it_refers_to() -> None:
    table = 'CREATE TABLE "new" ("id" bigint NOT NULL PRIMARY KEY, "run_id" bigint, "upload_id" bigint);'
    keys = "\n".join(
        f'ALTER TABLE "new" ADD CONSTRAINT "{name}" FOREIGN KEY ("{name}_id") REFERENCES "ingest_{name}" ("id");'
        for name in ("run", "upload")
    )
    (named,) = locked_together(f"BEGIN;\n{table}\n{keys}\nCOMMIT;")
    assert named.startswith("ingest_run, ingest_upload: locked together")

    def first(*tables: str) -> str:
        return "".join(f"{statement};\n" for statement in lock_tables(*tables).sql)

    assert not list(locked_together(f"BEGIN;\n{first('ingest_upload', 'ingest_run')}{table}\n{keys}\nCOMMIT;"))
    assert list(locked_together(f"BEGIN;\n{first('ingest_upload', 'ingest_test')}{table}\n{keys}\nCOMMIT;"))
    waiting = first("ingest_upload", "ingest_run").replace(" NOWAIT", "")
    assert list(locked_together(f"BEGIN;\n{waiting}{table}\n{keys}\nCOMMIT;")), "it waits while it holds the first"


class Lost:
    """A migrate that is refused a lock as PostgreSQL refuses it, and then goes through."""

    def __init__(self, *refusals: type[psycopg2.OperationalError]) -> None:
        self.refusals = list(refusals)

    def __call__(self, *args: object, **options: object) -> None:
        if self.refusals:
            raise OperationalError("refused") from self.refusals.pop(0)()


def test_an_upgrade_that_lost_a_lock_or_a_deadlock_tries_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(upgrade_command, "_PAUSE", 0)
    lost = Lost(errors.LockNotAvailable, errors.DeadlockDetected)
    monkeypatch.setattr(upgrade_command, "call_command", lost)
    upgrade_command.Command(stderr=io.StringIO())._upgrade(3)
    assert not lost.refusals
    monkeypatch.setattr(upgrade_command, "call_command", Lost(errors.DiskFull))
    with pytest.raises(OperationalError):
        upgrade_command.Command()._upgrade(3)
