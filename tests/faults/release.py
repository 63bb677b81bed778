"""The database of the release before, as an installation of it has it: with ten million results."""

import gzip
from pathlib import Path
from typing import Any

import numpy as np
import psycopg2
from psycopg2 import errors, sql

from dashboard.ops.embedded import Cluster
from ingest.vectors import encode_durations, encode_members, members_digest
from tests.conftest import ROOT

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
REPORTS, TESTS = 200, 50_000


class Release:
    """In a home of its own, and what was in it."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.cluster = Cluster(home)
        self.cluster.start()
        with self.connection() as connection, connection.cursor() as cursor:
            cursor.execute(gzip.decompress(DUMP.read_bytes()).decode())
            cursor.execute("SET search_path = public")
            for statement in _UNTIL_NOW:
                cursor.execute(statement)
            _large_project_add(cursor)
        connection.close()
        self.columns = {table: self._columns(table) for table in KEPT}
        self._last = {table: self.query(f"SELECT coalesce(max(id), 0) FROM {table}")[0][0] for table in KEPT}
        self.before = self.contents()

    def connection(self) -> "psycopg2.extensions.connection":
        connection = self.cluster.connect()
        with connection, connection.cursor() as cursor:
            cursor.execute("SET search_path = public")
        return connection

    def _columns(self, table: str) -> list[str]:
        asked = "SELECT column_name FROM information_schema.columns WHERE table_name = %s ORDER BY 1"
        return [name for (name,) in self.query(asked, table)]

    def query(self, statement: Any, *values: object) -> list[tuple[Any, ...]]:
        connection = self.connection()
        try:
            with connection.cursor() as cursor:
                cursor.execute(statement, values)
                return list(cursor.fetchall())
        finally:
            connection.close()

    def names(self, table: str) -> sql.Composed:
        """The columns of a table that the release before knows."""
        return sql.SQL(", ").join(map(sql.Identifier, self.columns[table]))

    def contents(self) -> dict[str, tuple[int, str]]:
        """Table -> rows that were there at first, and a digest of all that the release before knew of them."""
        asked = sql.SQL("SELECT count(*), md5(string_agg(md5(ROW({})::text), '' ORDER BY id)) FROM {} WHERE id <= %s")
        return {
            table: self.query(asked.format(self.names(table), sql.Identifier(table)), last)[0]
            for table, last in self._last.items()
        }

    def insert_as_before(self, table: str) -> None:
        """A row with the columns that the release before knows: a value that it lacks is seen before a rule of once."""
        statement = sql.SQL("INSERT INTO {0} ({1}) SELECT {1} FROM {0} LIMIT 1")
        connection = self.connection()
        try:
            with connection.cursor() as cursor:
                cursor.execute(statement.format(sql.Identifier(table), self.names(table)))
        except errors.UniqueViolation:
            pass
        finally:
            connection.rollback()
            connection.close()


def _large_project_add(cursor: "psycopg2.extensions.cursor") -> None:
    """200 reports of 50,000 tests each, of which each report has the same 20 failed."""
    numbers = np.arange(TESTS, dtype=np.int32)
    members = encode_members(numbers)
    verdicts = np.zeros(TESTS, dtype=np.uint8)
    verdicts[:20] = 1
    values = {
        "reports": REPORTS,
        "tests": TESTS,
        "digest": members_digest(numbers),
        "form": members.form,
        "members": members.data,
        "verdicts": verdicts.tobytes(),
        "durations": encode_durations(np.random.default_rng(1).gamma(1.0, 1.0, TESTS)),
    }
    for statement in _LARGE_PROJECT:
        cursor.execute(statement, values)


_UNTIL_NOW = (
    "CREATE TEMPORARY TABLE shift AS SELECT now() - max(started_at) AS by FROM ingest_report",
    "UPDATE ingest_run SET started_at = started_at + shift.by FROM shift",
    "UPDATE ingest_report SET started_at = started_at + shift.by FROM shift",
)
"""Its runs end now, as those of an installation in use: what it writes during the upgrade would otherwise come ten
months after them and move the analysed window away from all of them."""
_ITS_ID = "(SELECT id FROM ingest_project WHERE slug = 'large')"
_LARGE_PROJECT = (
    """INSERT INTO ingest_project (slug, name, default_branch, test_count, created_at, demo)
    VALUES ('large', 'Large', 'main', %(tests)s, now(), false)""",
    f"""INSERT INTO ingest_test (number, digest, suite, classname, name, file, first_seen, project_id)
    SELECT number, substring(sha256(number::text::bytea) FOR 16), '', 'c' || number / 100, 't' || number, '', now(),
           {_ITS_ID} FROM generate_series(0, %(tests)s - 1) AS number""",
    f"""INSERT INTO ingest_roster (digest, size, form, base, last, members, usual_order, project_id)
    VALUES (%(digest)s, %(tests)s, %(form)s, 0, %(tests)s - 1, %(members)s, '', {_ITS_ID})""",
    f"""INSERT INTO ingest_signature (digest, text, first_seen, project_id) VALUES ('large', 'x', now(), {_ITS_ID})""",
    f"""INSERT INTO ingest_run (key, commit, tree, branch, pull_request, build_id, build_url, attempt, job, shard,
                                environment, host, started_at, project_id)
    SELECT substring(sha256(('run' || n)::bytea) FOR 16), 'c' || n, '', 'main', '', n, '', 1, '', '', '{{}}', '',
           now() - n * interval '1 hour', {_ITS_ID} FROM generate_series(1, %(reports)s) AS n""",
    """INSERT INTO ingest_report (content_digest, file_digests, started_at, verdicts, durations, order_reliable,
                                  producer, partial, tests, passed, failed, errored, skipped, attempts, run_errors,
                                  project_id, roster_id, run_id)
    SELECT sha256(run.key), '', run.started_at, %(verdicts)s, %(durations)s, false, 'pytest', false, %(tests)s,
           %(tests)s - 20, 20, 0, 0, %(tests)s, '[]', run.project_id, roster.id, run.id
    FROM ingest_run AS run JOIN ingest_roster AS roster ON roster.digest = %(digest)s
        AND roster.project_id = run.project_id""",
    f"""INSERT INTO ingest_failure (ordinal, part, verdict, type, message, text, system_out, system_err, report_id,
                                   signature_id, test_id)
    SELECT 0, 0, 1, '', 'x', 'x', '', '', report.id, signature.id, test.id
    FROM ingest_report AS report JOIN ingest_test AS test ON test.project_id = report.project_id AND test.number < 20
    JOIN ingest_signature AS signature ON signature.project_id = report.project_id
    WHERE report.project_id = {_ITS_ID}""",
)
