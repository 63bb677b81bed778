"""A database that cannot be used is one line that says what to do."""

import pytest
from django.apps import apps
from django.conf import settings
from django.db import connection

from dashboard.ops import database_check, health
from dashboard.ops.environment import BadSetting

pytestmark = pytest.mark.django_db


def test_the_database_of_the_tests_will_do() -> None:
    database_check.check(connections=database_check.web_connections(), migrated=True)
    assert database_check.web_connections() == settings.WEB_CONCURRENCY * settings.WEB_THREADS


def test_before_the_application_is_loaded_it_warns_of_nothing(
    monkeypatch: pytest.MonkeyPatch, recwarn: pytest.WarningsRecorder
) -> None:
    monkeypatch.setattr(apps, "ready", False)
    database_check.check()
    assert not recwarn.list


def test_an_old_postgresql_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(connection.__dict__, "pg_version", 140_012)
    with pytest.raises(BadSetting, match=r"too old: PostgreSQL 15 or newer is needed \(it is PostgreSQL 14\)"):
        database_check.check()


def test_more_connections_than_there_are_is_refused() -> None:
    with pytest.raises(BadSetting, match="allows 1?[0-9]+ connections and this process may open 100000"):
        database_check.check(connections=100_000)


def test_a_limit_of_the_role_counts_too() -> None:
    with connection.cursor() as cursor:
        cursor.execute("ALTER ROLE CURRENT_USER CONNECTION LIMIT 5")
        with pytest.raises(BadSetting, match="allows 5 connections and this process may open 6"):
            database_check.check(connections=6)


def test_tables_that_are_behind_the_code_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(database_check, "_pending_migrations", lambda: ["ingest.0099_next"])
    with pytest.raises(BadSetting, match=r"lacks 1 migrations, first ingest.0099_next: run manage.py upgrade"):
        database_check.check(migrated=True)
    assert health.pending_migrations() == []
