"""Messages that a broker was made to carry: only JSON is read, and nothing in it is ever run."""

import base64
import os
import pickle
from pathlib import Path

import pytest
from kombu import Connection, Consumer, Exchange, Producer, Queue
from kombu.exceptions import ContentDisallowed

from dashboard.celery import app


class Harm:
    """Unpickled, it makes a file."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def __reduce__(self) -> tuple[object, tuple[str]]:
        return os.mkdir, (str(self._path),)


def test_a_pickled_message_is_refused_before_it_is_opened(tmp_path: Path) -> None:
    """As a worker reads it: with what Celery's own consumer is told to accept."""
    made = tmp_path / "made"
    exchange = Exchange("hostile")
    queue = Queue("hostile", exchange, routing_key="hostile")
    with Connection("memory://") as connection, connection.channel() as channel:
        sent = {"content_type": "application/x-python-serialize", "content_encoding": "binary"}
        Producer(channel, exchange).publish(pickle.dumps(Harm(made)), routing_key="hostile", declare=[queue], **sent)
        refused: list[Exception] = []
        consumer = Consumer(
            channel, [queue], accept=app.conf.accept_content, on_decode_error=lambda _, error: refused.append(error)
        )
        consumer.register_callback(lambda body, message: pytest.fail("it was read"))
        with consumer:
            connection.drain_events(timeout=60)
    assert [type(error) for error in refused] == [ContentDisallowed]
    assert not made.exists()


def test_the_payload_would_do_harm_where_it_is_opened(tmp_path: Path) -> None:
    """So that the test above can fail."""
    pickle.loads(base64.b64decode(base64.b64encode(pickle.dumps(Harm(tmp_path / "made")))))
    assert (tmp_path / "made").is_dir()


def test_no_task_takes_anything_but_json_and_no_result_is_read_back() -> None:
    assert set(app.conf.accept_content) == {"json"}
    assert app.conf.task_serializer == "json"
    assert app.conf.result_backend is None
    assert app.conf.worker_enable_remote_control is False
