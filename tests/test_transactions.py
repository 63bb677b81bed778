"""The guard sees whatever ends a test's transaction, or commits beside it."""

from collections.abc import Callable, Iterator

import pytest
from django.contrib.auth.models import User
from django.db import connection, transaction

from ingest.services import project_create
from tests.at_once import at_once
from tests.transactions import forget_transaction, mark_transaction, remove_since, rows_now, transaction_problem

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def begun(transactional_db: None) -> Iterator[None]:
    """A transaction as a test has it."""
    block = transaction.atomic()
    block.__enter__()
    mark_transaction()
    yield
    forget_transaction()


def commit() -> None:
    with connection.cursor() as cursor:
        cursor.execute("COMMIT")


def commit_and_write() -> None:
    commit()
    User.objects.create_user("late")


def end_session() -> None:
    connection.connection.close()


def leave_open() -> None:
    transaction.atomic().__enter__()


def exit_twice() -> None:
    transaction.atomic().__exit__(None, None, None)


@pytest.mark.parametrize("deed", [commit, commit_and_write, end_session, connection.close, leave_open, exit_twice])
def test_a_transaction_that_was_ended_is_seen(begun: None, deed: Callable[[], None]) -> None:
    assert transaction_problem() == ""
    deed()
    assert transaction_problem() != ""


def write() -> None:
    with transaction.atomic():
        project_create(slug="kept", name="Kept")


def undo() -> None:
    with transaction.atomic():
        write()
        transaction.set_rollback(True)


def fail() -> None:
    with pytest.raises(Exception, match="does not exist"), connection.cursor() as cursor:
        cursor.execute("SELECT * FROM nowhere")


@pytest.mark.parametrize("deed", [write, undo, fail])
def test_what_tests_may_do_is_no_problem(begun: None, deed: Callable[[], None]) -> None:
    deed()
    assert transaction_problem() == ""


def test_rows_of_other_connections_are_seen_and_removed() -> None:
    before = rows_now()
    assert not remove_since(before)
    at_once(write, lambda: User.objects.create_user("someone"))
    extra = remove_since(before)
    assert (len(extra.projects), len(extra.people)) == (1, 1)
    assert rows_now() == before


def test_a_forgotten_transaction_leaves_a_connection_that_commits(begun: None) -> None:
    leave_open()
    project_create(slug="gone", name="Gone")
    forget_transaction()
    assert (connection.in_atomic_block, rows_now().projects) == (False, frozenset())
    write()
    assert not connection.in_atomic_block
    assert len(at_once(rows_now)[0].projects) == 1
