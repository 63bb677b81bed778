"""The real gate for a client in a process of its own: its requests are answered here, inside the test's transaction."""

import os
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

from django.test import Client

from dashboard.quarantine.models import GateDecision
from ingest.models import Project
from tests.client.commands import environ_with
from tests.client.starter import Started, begin

_PASSED_ON = ("Authorization", "Idempotency-Key")


class _Handler(BaseHTTPRequestHandler):
    """Hands a request to Django and its answer back."""

    timeout = 30

    def _handle(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        kind = self.headers.get("Content-Type") or "application/octet-stream"
        headers = {name: self.headers[name] for name in _PASSED_ON if name in self.headers}
        answer = Client().generic(self.command, self.path, body, content_type=kind, headers=headers)
        content = b"".join(answer.streaming_content) if answer.streaming else answer.content
        self.send_response(answer.status_code)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    do_GET = do_POST = _handle  # noqa: N815 - what http.server calls

    def log_message(self, *arguments: Any) -> None:
        pass


@dataclass(frozen=True)
class Ran:
    exit_code: int
    output: str
    decisions: list[GateDecision]
    """What the gate answered, in turn."""

    @property
    def codes(self) -> set[str]:
        """The reasons of the first answer."""
        return {reason["code"] for reason in self.decisions[0].reasons} if self.decisions else set()

    @property
    def why(self) -> str:
        return " ".join(reason["sentence"] for decision in self.decisions for reason in decision.reasons)


@dataclass(frozen=True)
class Board:
    project: Project
    token: str

    def run(self, command: Sequence[str], folder: Path, environ: Mapping[str, str], options: Sequence[str] = ()) -> Ran:
        """`flakeboard run -- command` in this folder, with the gate behind it."""
        return self.start(["run", "--build-id", os.urandom(8).hex(), *options, "--", *command], folder, environ)

    def start(self, words: Sequence[str], folder: Path, environ: Mapping[str, str]) -> Ran:
        before = set(GateDecision.objects.filter(project=self.project).values_list("pk", flat=True))
        log = folder.parent / f"{folder.name}.log"
        log.unlink(missing_ok=True)
        with HTTPServer(("127.0.0.1", 0), _Handler) as server:
            server.timeout = 0.02
            where = {"FLAKEBOARD_URL": f"http://127.0.0.1:{server.server_address[1]}"}
            where |= {"FLAKEBOARD_PROJECT": self.project.slug, "FLAKEBOARD_TOKEN": self.token}
            process = begin("flakeboard", *words, cwd=folder, environ=environ_with(**where, **environ), output=log)
            try:
                _serve(server, process)
            finally:
                code = process.end()
        made = GateDecision.objects.filter(project=self.project).exclude(pk__in=before).order_by("pk")
        return Ran(code, log.read_text(), list(made))


def _serve(server: HTTPServer, process: Started, seconds: float = 300) -> None:
    """Answer until the client ends. The limit ends a test that hangs; no test waits for it."""
    deadline = time.monotonic() + seconds
    while process.poll() is None:
        assert time.monotonic() < deadline, "the client does not end"
        server.handle_request()
