"""Flakeboard in a thread, as production serves it: the same WSGI application, static files hashed through whitenoise."""

from collections.abc import Iterator
from contextlib import contextmanager
from threading import Thread

from django.core.handlers.wsgi import WSGIHandler
from django.core.servers.basehttp import ThreadedWSGIServer, WSGIRequestHandler


class _Quiet(WSGIRequestHandler):
    def log_message(self, format: str, *args: object) -> None:
        """A browser that goes away in the middle of an answer is no news."""


class _Server(ThreadedWSGIServer):
    # Threads are waited for at the end: one that still asks the database would be in the way of the next test.
    daemon_threads = False

    def handle_error(self, request: object, client_address: object) -> None:
        """The browser closed the connection; an error of the application is logged and answered by Django itself."""


@contextmanager
def serving() -> Iterator[str]:
    """The address at which it answers."""
    server = _Server(("127.0.0.1", 0), _Quiet)
    server.set_app(WSGIHandler())
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
