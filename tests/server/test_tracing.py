"""OpenTelemetry where a collector is named, and nothing of it elsewhere."""

import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from tests.conftest import ROOT

LINKS = ("/invitations/canary/", "/sign-in/MQ/canary/", "/sign-in/canary")
ASK = """
import sys
from io import BytesIO
from wsgiref.util import setup_testing_defaults
from dashboard.wsgi import application
for path in sys.argv[1:]:
    environ = {"PATH_INFO": path, "HTTP_AUTHORIZATION": "Bearer flk_upload_canary", "QUERY_STRING": "a=canary"}
    setup_testing_defaults(environ)
    print(b"".join(application(environ, lambda status, headers, *rest: print(status))).decode())
print("loaded" if any(name.startswith("opentelemetry") for name in sys.modules) else "not loaded")
if "opentelemetry" in sys.modules:
    from opentelemetry import trace
    trace.get_tracer_provider().shutdown()
"""


class Collector(HTTPServer):
    """What a collector is to us: it takes spans."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.received: list[bytes] = []

    def spans(self) -> list[str]:
        requests = [ExportTraceServiceRequest.FromString(body) for body in self.received]
        return [
            span.name
            for request in requests
            for resource in request.resource_spans
            for scope in resource.scope_spans
            for span in scope.spans
        ]


class Handler(BaseHTTPRequestHandler):
    server: Collector

    def do_POST(self) -> None:
        self.server.received.append(self.rfile.read(int(self.headers["Content-Length"])))
        self.send_response(200)
        self.end_headers()

    def log_message(self, *_: object) -> None:
        """Nothing to the tests' output."""


@contextmanager
def collecting() -> Iterator[Collector]:
    server = Collector()
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def ask(*paths: str, **environment: str) -> str:
    """Ask in a process of its own, in the home of the tests, which has static files already."""
    told = os.environ | {"DJANGO_SETTINGS_MODULE": "dashboard.settings", **environment}
    command = [sys.executable, "-c", ASK, *paths]
    done = subprocess.run(command, cwd=ROOT, env=told, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr
    return done.stdout


@dataclass(frozen=True)
class Traced:
    """What a process said that was asked for all paths, and what its collector got."""

    said: str
    spans: list[str]
    sent: bytes


@pytest.fixture(scope="module")
def traced() -> Traced:
    with collecting() as collector:
        endpoint = f"http://127.0.0.1:{collector.server_address[1]}"
        said = ask("/health/live", *LINKS, OTEL_EXPORTER_OTLP_ENDPOINT=endpoint, OTEL_EXPORTER_OTLP_COMPRESSION="none")
        return Traced(said, collector.spans(), b"".join(collector.received))


def test_requests_are_traced_to_the_collector(traced: Traced) -> None:
    assert "200 OK" in traced.said
    assert len([span for span in traced.spans if span.startswith("GET")]) == 1 + len(LINKS)
    assert b"canary" not in traced.sent


@pytest.mark.parametrize("path", LINKS)
def test_no_trace_tells_a_link_that_lets_somebody_in(traced: Traced, path: str) -> None:
    told = path.replace("MQ/", "").replace("canary", "…").removesuffix("/")
    assert f"http://127.0.0.1{told}".encode() in traced.sent
    assert b"canary" not in traced.sent


def test_without_a_collector_nothing_of_it_is_loaded() -> None:
    assert ask("/health/live", OTEL_EXPORTER_OTLP_ENDPOINT="").splitlines()[-1] == "not loaded"
