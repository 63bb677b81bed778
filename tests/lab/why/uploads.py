"""Uploads with traces, as CI sends them."""

from __future__ import annotations

import random
from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Any

from flakeboard.traces.trace import FAILED, PASSED, Event, Site, Token, Trace
from flakeboard.traces.writer import TraceWriter

from ingest.metadata import RunMetadata
from ingest.models import Project, Upload
from ingest.processing import upload_process
from ingest.services import upload_receive
from tests.conftest import body_of
from tests.lab.experiments import STARTED, junit

TEST = "tests/test_cart.py::test_total"
DRAW = Site("shop/price.py", "Cart.total", "random.random", 1, 17)
WAIT = Site("tests/test_cart.py", "test_total", "threading.Event.wait", 1, 41)


def trace(test: str = TEST, *, failed: bool = False, drawn: float = 0.5, waited: bool = True, **more: Any) -> Trace:
    """An execution that drew a number, then waited for an event."""
    took = 20_000 if waited else 500_000
    events = (Event(0, 0, drawn, 10, 2), Event(1, 0, waited, 100, took))
    outcome = (FAILED, "AssertionError", 600_000) if failed else (PASSED, "", None)
    known: dict[str, Any] = {"facts": {"hash": 7, "zone": "UTC", "is_first": True}}
    return Trace(test, 1, *outcome, ("main",), events, **{**known, **more})


def trace_file(*traces: Trace, sites: Iterable[Site] = (DRAW, WAIT), level: str = "sources") -> tuple[str, bytes]:
    lines: list[str] = []
    writer = TraceWriter(lines.append, level, "3.12.1", "", {"cores": 2})
    for each in traces:
        writer.add(each, list(sites), [])
    return "flakeboard-trace.jsonl", "".join(lines).encode()


def send(
    project: Project,
    *files: bytes | tuple[str, bytes],
    at: datetime = STARTED,
    untrusted: bool = False,
    **metadata: Any,
) -> Upload:
    """Receive and process an upload of CI."""
    known = {"commit": "a" * 40, "branch": "main", **metadata}
    upload, _ = upload_receive(project=project, body=body_of(*files), metadata=RunMetadata(**known), untrusted=untrusted, stated_at=at)  # fmt: skip
    upload_process(upload_id=upload.pk)
    upload.refresh_from_db()
    return upload


def send_runs(project: Project, *, failing: int = 6, passing: int = 14, test: str = TEST, **metadata: Any) -> None:
    """Runs of a test that fails where `Event.wait` answers False, each with its trace."""
    draw = random.Random(3)
    for number in range(failing + passing):
        failed = number < failing
        at = STARTED + timedelta(hours=number)
        report = junit([test, "tests/test_cart.py::test_other"], [test] if failed else [], at=at)
        own = trace(test, failed=failed, waited=not failed, drawn=round(draw.random(), 6))
        send(project, report, trace_file(own), at=at, build_id=str(number), **metadata)


def token(text: str) -> Token:
    return Token("str", len(text), "0123456789abcdef")
