"""OpenTelemetry where a collector is named, and nothing of it elsewhere."""

import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from tests.conftest import ROOT

ASK = """
import sys
from io import BytesIO
from wsgiref.util import setup_testing_defaults
from dashboard.wsgi import application
environ = {"PATH_INFO": sys.argv[1], "HTTP_AUTHORIZATION": "Bearer flk_upload_canary", "QUERY_STRING": "a=canary"}
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


@pytest.fixture
def collector() -> Iterator[Collector]:
    server = Collector()
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield server
    server.shutdown()
    thread.join()
    server.server_close()


def ask(path: str = "/health/live", **environment: str) -> str:
    """Ask in a process of its own, in the home of the tests, which has static files already."""
    told = os.environ | {"DJANGO_SETTINGS_MODULE": "dashboard.settings", **environment}
    command = [sys.executable, "-c", ASK, path]
    done = subprocess.run(command, cwd=ROOT, env=told, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_requests_are_traced_to_the_collector(collector: Collector) -> None:
    port = collector.server_address[1]
    said = ask(OTEL_EXPORTER_OTLP_ENDPOINT=f"http://127.0.0.1:{port}", OTEL_EXPORTER_OTLP_COMPRESSION="none")
    assert "200 OK" in said
    assert any(span.startswith("GET") for span in collector.spans())
    assert b"canary" not in b"".join(collector.received)


@pytest.mark.parametrize("path", ["/invitations/canary/", "/sign-in/MQ/canary/", "/sign-in/canary"])
def test_no_trace_tells_a_link_that_lets_somebody_in(collector: Collector, path: str) -> None:
    port = collector.server_address[1]
    ask(path, OTEL_EXPORTER_OTLP_ENDPOINT=f"http://127.0.0.1:{port}", OTEL_EXPORTER_OTLP_COMPRESSION="none")
    sent = b"".join(collector.received)
    assert path.split("/")[1].encode() in sent
    assert b"canary" not in sent


def test_without_a_collector_nothing_of_it_is_loaded() -> None:
    assert ask(OTEL_EXPORTER_OTLP_ENDPOINT="").splitlines()[-1] == "not loaded"
