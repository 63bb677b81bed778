"""A local server that answers as it is told to: well, late, wrongly, or not at all. It keeps what it was sent."""

from __future__ import annotations

import gzip
import io
import json
import socket
import struct
import tarfile
import threading
import time
from email.parser import BytesParser
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qsl, urlsplit

TOKEN = "flk_upload_" + "0123456789ABCDEFGHIJabcdefghij" + "zzzzzz"
ACCEPTED = {"id": 7, "state": "processed", "files": [], "page": "http://board.example/projects/shop/uploads/7"}
PASSED = {
    "id": 1,
    "passed": True,
    "decided": True,
    "sentence": "1 of 2 tests failed: it is quarantined.",
    "page": "http://board.example/projects/shop/runs/9",
    "reasons": [],
    "failing": [],
}


def failing(
    name: str,
    classname: str = "test_sample",
    blocks: bool = True,
    reruns: int | None = None,
    kind: str = "flaky",
    file: str = "test_sample.py",
) -> dict[str, Any]:
    return {
        "number": 4,
        "suite": "",
        "classname": classname,
        "name": name,
        "file": file,
        "class": kind,
        "blocks": blocks,
        "sentence": "It is known to be flaky.",
        "quarantine": None,
        "reruns": reruns,
    }


def refused(*tests: Any, code: str = "not_quarantined") -> dict[str, Any]:
    reasons = [{"code": code, "sentence": "1 failing test is not quarantined."}]
    return {
        **PASSED,
        "passed": False,
        "sentence": "1 of 2 tests failed: it blocks.",
        "reasons": reasons,
        "failing": list(tests),
    }


class Request:
    """What came: method, path, query, headers and body."""

    def __init__(self, handler: Any, body: Any) -> None:
        parts = urlsplit(handler.path)
        self.method, self.path = handler.command, parts.path
        self.query = dict(parse_qsl(parts.query))
        self.headers = handler.headers
        self.body = body
        self.at = time.monotonic()

    def parts(self) -> dict[str, bytes]:
        head = b"Content-Type: " + self.headers["Content-Type"].encode() + b"\r\n\r\n"
        message = BytesParser().parsebytes(head + self.body)
        return {
            part.get_param("name", header="content-disposition"): part.get_payload(decode=True)
            for part in message.get_payload()
        }

    def metadata(self) -> dict[str, Any]:
        return json.loads(self.parts()["metadata"])

    def files(self) -> dict[str, bytes]:
        """The archive's files: name -> content."""
        packed = gzip.decompress(self.parts()["file"])
        with tarfile.open(fileobj=io.BytesIO(packed)) as tar:
            return {member.name: tar.extractfile(member).read() for member in tar.getmembers()}


class Misbehaving:
    """Answers with what `answers` holds, in turn; the last one again and again. An answer may be a function."""

    def __init__(self) -> None:
        self.requests = []
        self.answers = [(200, ACCEPTED)]
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def handle_one(self) -> None:
                body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
                outer.requests.append(Request(self, body))
                answer = outer.answers.pop(0) if len(outer.answers) > 1 else outer.answers[0]
                if callable(answer):
                    answer(self)
                else:
                    reply(self, *answer)

            do_GET = do_POST = handle_one  # noqa: N815 - what http.server calls

            def log_message(self, *arguments: str) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self._server.block_on_close = False
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"

    def first_request(self) -> Request:
        """What came first; on a busy machine it is read only after a hasty client has given up."""
        for _ in range(6_000):
            if self.requests:
                return self.requests[0]
            time.sleep(0.01)
        raise AssertionError("nothing came")

    def __enter__(self) -> Misbehaving:
        threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
        return self

    def __exit__(self, *error: Any) -> None:
        self._server.shutdown()
        self._server.server_close()

    def environ(self, **more: Any) -> dict[str, str]:
        return {"FLAKEBOARD_URL": self.url, "FLAKEBOARD_PROJECT": "shop", "FLAKEBOARD_TOKEN": TOKEN, **more}


def reply(handler: Any, status: int, body: Any, headers: Any = None) -> None:
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    handler.send_response(status)
    for name, value in (headers or {}).items():
        handler.send_header(name, value)
    handler.send_header("Content-Length", str(len(data)))
    handler.end_headers()
    handler.wfile.write(data)


def reset(handler: Any) -> None:
    """Hang up as hard as one can."""
    handler.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    handler.connection.close()
    handler.close_connection = True


def drip(handler: Any) -> None:
    """Answer with a byte now and then, for ever: no single read is ever too slow."""
    try:
        for letter in b"HTTP/1.1 200 OK\r\nX-Slow: " + b"x" * 1_000:
            handler.wfile.write(bytes([letter]))
            handler.wfile.flush()
            time.sleep(0.1)
    except OSError:
        return


def say_nothing(handler: Any) -> None:
    time.sleep(30)


def error(
    status: int, code: str = "internal", sentence: str = "Something went wrong.", headers: Any = None
) -> tuple[int, dict[str, Any], Any]:
    return status, {"error": {"code": code, "sentence": sentence}}, headers
