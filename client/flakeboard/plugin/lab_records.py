"""What an order did, as JSON lines: one at the start and one at the end of every test, so that a crash loses none."""

from __future__ import annotations

import json
import os
import platform
import time
from contextlib import contextmanager
from typing import Any, Iterator

from flakeboard.plugin.lab_state import StateWatch
from flakeboard.plugin.recorder import failure_of

_NAME = "flakeboard-lab-records"
_LONGEST_TEXT = 20_000


def collected(session: Any, errors: list[list[str]], threads: int) -> dict[str, Any]:
    """What this session collected; of two items with one id the first counts."""
    places: dict[str, Any] = {}
    duplicates = []
    for item in session.items:
        if item.nodeid in places:
            duplicates.append(item.nodeid)
        else:
            file, line, _ = item.location
            places[item.nodeid] = [file, line, sorted(getattr(item, "fixturenames", ()))]
    return {
        "tests": places,
        "duplicates": duplicates,
        "errors": errors,
        "rootdir": str(session.config.rootpath),
        "folder": str(session.config.invocation_params.dir),
        "threads": threads,
        "forks": hasattr(os, "fork"),
        "python": platform.python_version(),
    }


class OrderRecords:
    """Writes the records of one order while it runs."""

    def __init__(self, session: Any, order: dict[str, Any]) -> None:
        self._manager = session.config.pluginmanager
        self._file = open(order["records"], "w", encoding="utf-8")  # noqa: SIM115 - closed at the end of the order
        self._texts = bool(order.get("texts"))
        self._watch = StateWatch(str(session.config.rootpath)) if order.get("state") else None
        self._reports: list[Any] = []

    def __enter__(self) -> OrderRecords:
        self._manager.register(self, _NAME)
        return self

    def __exit__(self, *error: object) -> None:
        self._manager.unregister(self)
        self._write({"done": True})
        self._file.close()

    @contextmanager
    def test(self, place: int, item: Any) -> Iterator[None]:
        self._reports = []
        self._write({"start": place})
        if self._watch:
            self._watch.before()
        began = time.perf_counter()
        yield
        end: dict[str, Any] = {"end": place, "seconds": round(time.perf_counter() - began, 6)}
        end["verdict"], failures = verdict_of(self._reports), [r for r in self._reports if r.outcome == "failed"]
        if failures and self._texts:
            end["failures"] = [_failure(report) for report in failures]
        if self._watch:
            end["state"] = self._watch.after()
        self._write(end)

    def pytest_runtest_logreport(self, report: Any) -> None:
        self._reports.append(report)

    def _write(self, record: dict[str, Any]) -> None:
        self._file.write(json.dumps(record) + "\n")
        self._file.flush()


def verdict_of(reports: list[Any]) -> str:
    """P, F, E or S of one execution: a failure of the test itself, an error of its set-up or tear-down."""
    failed = [report.when for report in reports if report.outcome == "failed"]
    if "call" in failed:
        return "F"
    if failed or not reports:
        return "E"
    return "S" if any(report.outcome == "skipped" for report in reports) else "P"


def _failure(report: Any) -> list[str]:
    failure = failure_of(report)
    return [failure.kind, failure.type, failure.message[:_LONGEST_TEXT], failure.text[:_LONGEST_TEXT]]
