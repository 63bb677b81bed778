"""What is known of the broker: whether it answers, and how many messages wait in each queue."""

from contextlib import suppress

from django.conf import settings
from kombu import Connection
from kombu.exceptions import ChannelError, OperationalError

from dashboard.celery import app

_SECONDS = 2


def _connection() -> Connection:
    return app.connection_for_write(connect_timeout=_SECONDS)


def _errors(connection: Connection) -> tuple[type[Exception], ...]:
    """Each broker has its own."""
    return (OperationalError, OSError, *connection.connection_errors, *connection.channel_errors)


def reachable() -> bool:
    with _connection() as connection:
        try:
            connection.connect()
        except _errors(connection):
            return False
    return True


def depths() -> dict[str, int] | None:
    """Queue -> messages that nobody has taken; None where the broker does not answer."""
    with _connection() as connection:
        try:
            connection.connect()
            return {queue: _depth(connection, queue) for queue in settings.QUEUES}
        except _errors(connection):
            return None


def _depth(connection: Connection, queue: str) -> int:
    """A queue that nobody has used yet is not there, and empty."""
    with suppress(ChannelError, *connection.channel_errors), connection.channel() as channel:
        return int(channel.queue_declare(queue, passive=True).message_count)
    return 0
