"""Claims that are renewed while their holder lives: they can be short, and what a killed process held is soon free."""

import logging
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from django.db import DatabaseError, connection

logger = logging.getLogger(__name__)


@contextmanager
def kept_alive(what: str, lease_seconds: float, renew: Callable[[], object]) -> Iterator[None]:
    """Renew a claim three times a lease, from a thread with a connection of its own."""
    done = threading.Event()

    def keep() -> None:
        try:
            while not done.wait(lease_seconds / 3):
                renew()
        except DatabaseError:
            logger.warning("%s: the lease could not be renewed", what)
        finally:
            connection.close()

    thread = threading.Thread(target=keep, name=f"lease of {what}", daemon=True)
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()
