"""Which migrations would stop a running installation? Judged by the SQL that they run.

Two ways to do harm: a lock that is held while a big table is read or rewritten, and a change that the release before,
which goes on serving meanwhile, cannot live with."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

BIG = frozenset(
    {
        *("ingest_run", "ingest_upload", "ingest_uploadchunk", "ingest_test", "ingest_roster", "ingest_report"),
        *("ingest_signature", "ingest_attempt", "ingest_failure"),
        *("analytics_analysis", "analytics_testfinding", "analytics_incidentfinding"),
    }
)
"""Tables that grow with use. All others are small, and a lock on them is short."""


@dataclass(frozen=True, slots=True)
class Rule:
    """What a statement on a table looks like that must not be run."""

    pattern: re.Pattern[str]
    why: str
    big_only: bool


def _rule(pattern: str, why: str, *, big_only: bool) -> Rule:
    return Rule(re.compile(pattern, re.IGNORECASE | re.DOTALL), why, big_only)


_ON = r'(?:ONLY )?"(?P<table>\w+)"'
RULES = (
    _rule(
        rf'^CREATE (?:UNIQUE )?INDEX (?!CONCURRENTLY)(?:IF NOT EXISTS )?"\w+" ON {_ON}',
        "an index is built while nobody can write: AddIndexConcurrently",
        big_only=True,
    ),
    _rule(
        rf"^ALTER TABLE {_ON} .*ALTER COLUMN .* TYPE ",
        "the table is rewritten while nobody can read: add a column, fill it in chunks, switch",
        big_only=True,
    ),
    _rule(
        rf"^ALTER TABLE {_ON} .*ALTER COLUMN .* SET NOT NULL",
        "the whole table is read under a lock: add a CHECK … NOT VALID and validate it in the next migration",
        big_only=True,
    ),
    _rule(
        rf"^ALTER TABLE {_ON} ADD CONSTRAINT (?!.* NOT VALID).* (?:FOREIGN KEY|CHECK|UNIQUE|EXCLUDE)",
        "the whole table is read under a lock: add it NOT VALID, or its index concurrently, first",
        big_only=True,
    ),
    _rule(
        rf"^ALTER TABLE {_ON} ADD COLUMN .* (?:DEFAULT \S*\(|GENERATED |SERIAL)",
        "a value is computed for every row, which rewrites the table",
        big_only=True,
    ),
    _rule(
        rf'^ALTER TABLE {_ON} ALTER COLUMN "\w+" DROP DEFAULT',
        "the release before does not know the column and cannot insert any more: use db_default, or null",
        big_only=False,
    ),
    _rule(
        rf"^ALTER TABLE {_ON} ADD COLUMN (?!.* DEFAULT ).* NOT NULL",
        "rows that are there have no value for it: use db_default, or null",
        big_only=False,
    ),
    _rule(
        rf"^ALTER TABLE {_ON} (?:RENAME |DROP COLUMN )",
        "the release before still uses it: stop using it in one release, drop it in the next",
        big_only=False,
    ),
    _rule(
        rf"^DROP TABLE (?:IF EXISTS )?{_ON}",
        "the release before still uses it: stop using it in one release, drop it in the next",
        big_only=False,
    ),
    _rule(
        rf"^(?:VACUUM FULL|CLUSTER|REINDEX (?!.*CONCURRENTLY)\w+) {_ON}",
        "the table is rewritten while nobody can read",
        big_only=True,
    ),
)
BUSY = BIG | {"ingest_project"}
"""Tables that an upload locks, one after the other: a migration that holds one and waits for another could deadlock."""
_ALTERED = re.compile(rf"^ALTER TABLE {_ON} ", re.IGNORECASE)
_REFERENCED = re.compile(r'\bREFERENCES "(?P<table>\w+)"', re.IGNORECASE)
_LOCKED = re.compile(
    r'^LOCK TABLE (?P<tables>"[\w", ]+") IN SHARE ROW EXCLUSIVE MODE(?P<nowait> NOWAIT)?', re.IGNORECASE
)
_CREATED = re.compile(r'^CREATE TABLE (?:IF NOT EXISTS )?"(?P<table>\w+)"', re.IGNORECASE)


def dangers(statements: list[str]) -> Iterator[str]:
    """A sentence for each statement of one migration that would do harm. What it has made itself is empty, and free."""
    made: set[str] = set()
    for statement in statements:
        if created := _CREATED.match(statement):
            made.add(created["table"])
        for rule in RULES:
            found = rule.pattern.match(statement)
            if found and found["table"] not in made and (found["table"] in BIG or not rule.big_only):
                yield f"{found['table']}: {rule.why} ({statement[:120]})"


def locked_together(sql: str) -> Iterator[str]:
    """Yield a sentence if one transaction would lock several busy tables and could deadlock with writers.

    A foreign key locks the table that it refers to. A lock that is not waited for is no danger."""
    if "BEGIN;" not in sql.split("\n"):
        return
    locked: set[str] = set()
    waited_for: set[str] = set()
    for statement in statements_of(sql):
        lock = _LOCKED.match(statement)
        tables = set(re.findall(r'"(\w+)"', lock["tables"])) if lock else _tables_of(statement)
        if not (lock and lock["nowait"]):
            waited_for |= tables & BUSY - locked
        locked |= tables
    if len(waited_for) > 1:
        named = ", ".join(sorted(waited_for))
        yield f"{named}: locked together: lock_tables, atomic = False, or a migration for each"


def _tables_of(statement: str) -> set[str]:
    altered = _ALTERED.match(statement)
    return {found["table"] for found in (altered, *_REFERENCED.finditer(statement)) if found}


def statements_of(sql: str) -> list[str]:
    """The statements of what `sqlmigrate` prints; comments and the transaction's own words are none."""
    lines = (line for line in sql.splitlines() if not line.lstrip().startswith("--"))
    parts = (" ".join(part.split()) for part in "\n".join(lines).split(";"))
    return [part for part in parts if part and part.upper() not in ("BEGIN", "COMMIT")]
