"""Databases furnished once a process: a module that needs the same project as another borrows it, and leaves it as it was.

Each is a copy of the tests' own database, so that projects of one never show up in tests that expect none."""

import copy
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, TypeVar

import psycopg2
import pytest
from django.db import connection
from psycopg2 import sql

from tests.api_client import HasProject, committed_once
from tests.transactions import Rows, rows_now

Made = TypeVar("Made", bound=HasProject)
_KEYS_APART = 10_000_000
"""Keys of two databases never meet: what a process remembers by a key stays true."""

_END_OTHERS = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = %s"
"""A database is copied only while nobody uses it, and a thread of an earlier test may have left a connection."""


@dataclass(frozen=True)
class Furnished:
    database: str
    made: Any
    rows: Rows


class FurnishedDatabases:
    """All of this process, by name."""

    def __init__(self, blocker: Any) -> None:
        self._blocker = blocker
        self._own = connection.settings_dict["NAME"]
        self._known: dict[str, Furnished] = {}

    @contextmanager
    def lend(self, name: str, make: Callable[[], Made]) -> Iterator[Made]:
        """Tests use the named database until the block ends; where another is lent already, the project goes into that."""
        if connection.settings_dict["NAME"] != self._own:
            with committed_once(self._blocker, make) as made:
                yield made
            return
        if name not in self._known:
            self._known[name] = self._furnish(name, make)
        furnished = self._known[name]
        self._use(furnished.database)
        try:
            yield copy.deepcopy(furnished.made)
            with self._blocker.unblock():
                found = rows_now()
        finally:
            self._use(self._own)
        assert found == furnished.rows, f"Tests changed the database {name!r} that other modules use, too."

    def drop_all(self) -> None:
        for furnished in self._known.values():
            self._administer("DROP DATABASE IF EXISTS {} WITH (FORCE)", furnished.database)

    def _furnish(self, name: str, make: Callable[[], Made]) -> Furnished:
        database = f"{self._own}_{name}"
        connection.close()
        self._administer("DROP DATABASE IF EXISTS {} WITH (FORCE)", database)
        self._administer(_END_OTHERS, values=[self._own])
        self._administer("CREATE DATABASE {} TEMPLATE {}", database, self._own)
        self._use(database)
        try:
            with self._blocker.unblock():
                _move_keys((len(self._known) + 1) * _KEYS_APART)
                made = make()
                return Furnished(database, made, rows_now())
        finally:
            self._use(self._own)

    def _use(self, database: str) -> None:
        """All threads read the same settings, so that theirs is the same database."""
        connection.close()
        connection.settings_dict["NAME"] = database

    def _administer(self, statement: str, *names: str, values: Sequence[str] = ()) -> None:
        parameters = {**connection.get_connection_params(), "dbname": "postgres"}
        session = psycopg2.connect(
            **{key: parameters[key] for key in ("dbname", "user", "password", "host", "port") if key in parameters}
        )
        session.autocommit = True
        try:
            with session.cursor() as cursor:
                cursor.execute(sql.SQL(statement).format(*map(sql.Identifier, names)), values)
        finally:
            session.close()


def _move_keys(start: int) -> None:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT setval(oid::regclass, %s) FROM pg_class WHERE relkind = 'S' AND relnamespace = 'public'::regnamespace",
            [start],
        )


@pytest.fixture(scope="session")
def furnished_databases(django_db_setup: None, django_db_blocker: Any) -> Iterator[FurnishedDatabases]:
    databases = FurnishedDatabases(django_db_blocker)
    yield databases
    databases.drop_all()
