"""The plugin that `flakeboard detect` injects: runs the tests in the order of a job, and records each start and end.

It is another module than `flakeboard.pytest_plugin`, which pytest has registered where the client is installed. It
imports as little as it can: a module that a test expects to be absent must not come with us."""

from __future__ import annotations

import json
import os
import sys
import threading
from typing import Any, Iterator

import pytest

from flakeboard.plugin import lab_rivals, lab_server
from flakeboard.plugin.lab_records import OrderRecords, collected
from flakeboard.plugin_names import LAB_VARIABLE


def _read_job() -> dict[str, Any]:
    """Take the job out of the environment, so that processes which tests start see what they always see."""
    path = os.environ.pop(LAB_VARIABLE, "")
    if not path:
        return {}
    with open(path, encoding="utf-8") as file:
        job: dict[str, Any] = json.load(file)
    if job.get("pythonpath") is None:
        os.environ.pop("PYTHONPATH", None)
    else:
        os.environ["PYTHONPATH"] = job["pythonpath"]
    sys.path[:] = [entry for entry in sys.path if entry != job["injected"]]
    os.environ.update(job.get("environ") or {})
    return job


_job = _read_job()
_errors: list[list[str]] = []


@pytest.hookimpl(tryfirst=True)
def pytest_load_initial_conftests(early_config: Any) -> None:
    """Where tests are traced, wrappers are set before conftests are imported."""
    if _job.get("trace"):
        from flakeboard.plugin import lab_traces

        lab_traces.start(early_config, _job["trace"])
    if _job.get("values"):
        from flakeboard.plugin import lab_bounds

        lab_bounds.start(early_config, _job["values"])


@pytest.hookimpl(hookwrapper=True, tryfirst=True)
def pytest_cmdline_main(config: Any) -> Iterator[None]:
    """Before all plugins act on their options."""
    if _job:
        lab_rivals.switch_off(config, int(_job.get("randomly_seed", 0)))
    yield


def pytest_collectreport(report: Any) -> None:
    if _job and report.failed:
        text = str(getattr(report, "longreprtext", "") or report.longrepr or "").strip()
        _errors.append([report.nodeid, text.rpartition("\n")[2][:500]])


@pytest.hookimpl(tryfirst=True)
def pytest_runtestloop(session: Any) -> bool | None:
    """The last word on order: behind pytest's own reordering by fixtures and behind every plugin."""
    if not _job:
        return None
    items: dict[str, Any] = {}
    for item in session.items:
        items.setdefault(item.nodeid, item)
    with open(_job["collection"], "w", encoding="utf-8") as file:
        json.dump(collected(session, _errors, threading.active_count()), file)
    if _errors or _job.get("collect_only"):
        return True
    if "requests" in _job:
        lab_server.serve(lambda order: _run(session, items, order), _job["requests"], _job["replies"])
    else:
        _run(session, items, _job)
    return True


def _run(session: Any, items: dict[str, Any], order: dict[str, Any]) -> None:
    """Run the tests of an order; those that are not collected are left for the reader of the records to miss."""
    wanted = list(items) if order.get("order") is None else order["order"]
    chosen = [(place, items[name]) for place, name in enumerate(wanted) if name in items]
    os.environ["PYTEST_DEBUG_TEMPROOT"] = order["temporary"]
    session.items = [item for _, item in chosen]
    with OrderRecords(session, order) as records:
        done: set[int] = set()
        for at, (place, item) in enumerate(chosen):
            if id(item) in done:
                item._initrequest()  # a second run needs fixtures of its own
            done.add(id(item))
            is_last = at + 1 == len(chosen) or order.get("apart")  # apart: all fixtures are torn down after each test
            following = None if is_last else chosen[at + 1][1]
            if order.get("reset") and at + 1 == len(chosen):
                _reset(items, **order["reset"])
            with records.test(place, item):
                item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
            if session.shouldstop or session.shouldfail:
                break


def _reset(items: dict[str, Any], code: str, module_of: str) -> None:
    """Run statements of a test of the project among the names of its module; what they raise ends the order."""
    names = dict(vars(items[module_of].module))
    exec(compile(code, "<reset>", "exec"), names)  # noqa: S102 - the project's own statements, in its own tests
