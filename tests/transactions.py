"""A guard around each test's transaction: what ends it would commit rows that break other tests, minutes later."""

from collections.abc import Iterator
from dataclasses import dataclass

import pytest
from django.contrib.auth.models import User
from django.core.signals import request_finished, request_started
from django.db import close_old_connections, connection
from psycopg2.extensions import TRANSACTION_STATUS_INERROR, TRANSACTION_STATUS_INTRANS
from pytest_django import DjangoDbBlocker

from ingest.models import Project

_MARK = "flakeboard.test"


@dataclass(frozen=True)
class Rows:
    """The keys of what almost every other row belongs to."""

    projects: frozenset[int]
    people: frozenset[int]

    def __bool__(self) -> bool:
        return bool(self.projects or self.people)


_KEYS = f"""
    SELECT ARRAY(SELECT id FROM {Project._meta.db_table}), ARRAY(SELECT id FROM {User._meta.db_table})
"""


def rows_now() -> Rows:
    with connection.cursor() as cursor:
        cursor.execute(_KEYS)
        projects, people = cursor.fetchone()
    return Rows(frozenset(projects), frozenset(people))


def remove_since(before: Rows) -> Rows:
    """Delete what was committed since then, so that only the test that did it is red."""
    now = rows_now()
    extra = Rows(now.projects - before.projects, now.people - before.people)
    if extra:
        Project.all_objects.filter(pk__in=extra.projects).delete()
        User.objects.filter(pk__in=extra.people).delete()
    return extra


def mark_transaction() -> None:
    """A setting that ends with the transaction, whoever ends it."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT set_config(%s, 'here', true)", [_MARK])


def transaction_problem() -> str:
    """What became of the marked transaction; empty where it is as it was."""
    if not connection.in_atomic_block or connection.closed_in_transaction or connection.connection is None:
        return "The test's transaction or its connection was ended inside the test."
    if connection.savepoint_ids:
        return "A block of the test's transaction is still open: close the response, generator or cursor that holds it."
    status = connection.connection.info.transaction_status
    if status == TRANSACTION_STATUS_INERROR:
        return ""  # an error that the test expected; it is rolled back all the same
    return "" if status == TRANSACTION_STATUS_INTRANS and _marked() else "The test's transaction was ended by SQL."


def _marked() -> bool:
    with connection.connection.cursor() as cursor:  # Django would refuse, where it expects a rollback
        cursor.execute("SELECT current_setting(%s, true)", [_MARK])
        return bool(cursor.fetchone()[0])


def forget_transaction() -> None:
    """Between tests there is none: what a broken test left open would swallow all that follow."""
    if connection.in_atomic_block:
        connection.close()
        connection.connection, connection.in_atomic_block = None, False  # connecting resets the rest


def _transactional(request: pytest.FixtureRequest) -> bool:
    """Whether the test commits by intent; its rows are flushed."""
    marker = request.node.get_closest_marker("django_db")
    fixtures = {"transactional_db", "live_server"} & set(request.fixturenames)
    return bool(fixtures) or bool(marker and marker.kwargs.get("transaction"))


@pytest.fixture
def nothing_committed(
    request: pytest.FixtureRequest, django_db_setup: None, django_db_blocker: DjangoDbBlocker
) -> Iterator[None]:
    """Red where rows of the test are there after its rollback."""
    if _transactional(request):
        yield
        return
    with django_db_blocker.unblock():
        before = rows_now()
    yield
    forget_transaction()
    with django_db_blocker.unblock():
        extra = remove_since(before)
    if extra:
        pytest.fail(f"The test committed {extra}. Threads that write need django_db(transaction=True).")


@pytest.fixture
def _django_db_helper(
    request: pytest.FixtureRequest, nothing_committed: None, _django_db_helper: None
) -> Iterator[None]:
    """pytest-django's own, guarded: red where the test's transaction does not end as it began."""
    if _transactional(request):
        yield
        return
    mark_transaction()
    yield
    if problem := transaction_problem():
        pytest.fail(f"{problem} Whatever is written after that is committed.")


@pytest.fixture
def requests_within_test() -> Iterator[None]:
    """Requests to the application itself share the test's connection, which Django would close before and after each."""
    for signal in (request_started, request_finished):
        signal.disconnect(close_old_connections)
    yield
    for signal in (request_started, request_finished):
        signal.connect(close_old_connections)
