"""A web server on loopback that keeps what it is sent, and answers as it is told."""

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass(frozen=True)
class Received:
    method: str
    path: str
    headers: dict[str, str]
    body: bytes

    def json(self) -> Any:
        return json.loads(self.body)


@dataclass
class Says:
    status: int = 200
    body: bytes = b"{}"
    headers: dict[str, str] = field(default_factory=dict)


Answering = Callable[[Received], Says]


class Receiver:
    """`answers` are given one after the other, the last again and again; a function is asked each time."""

    def __init__(self) -> None:
        self.received: list[Received] = []
        self.answers: list[Says] | Answering = [Says()]
        self._lock = threading.Lock()
        receiver = self

        class Handler(BaseHTTPRequestHandler):
            def _any(self) -> None:
                body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
                got = Received(self.command, self.path, {k.lower(): v for k, v in self.headers.items()}, body)
                says = receiver.answer(got)
                self.send_response(says.status)
                for name, value in says.headers.items():
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(says.body)))
                self.end_headers()
                self.wfile.write(says.body)

            do_GET = do_POST = do_PATCH = do_PUT = _any  # noqa: N815

            def log_message(self, *_: object) -> None:
                """Quiet."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.port = self._server.server_address[1]
        self.url = f"http://127.0.0.1:{self.port}"

    def answer(self, got: Received) -> Says:
        with self._lock:
            self.received.append(got)
            if callable(self.answers):
                return self.answers(got)
            return self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]

    @contextmanager
    def running(self) -> Iterator["Receiver"]:
        thread = threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True)
        thread.start()
        try:
            yield self
        finally:
            self._server.shutdown()
            thread.join()
            self._server.server_close()
