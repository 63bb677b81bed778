"""Waits while a test runs: what they are given is seen, changed by a factor, and a condition is asked early."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from flakeboard.tracing import wait_watch

from tests.lab.why.recording import record

SLEEPER = """
import time

class Worker:
    looks = 0
    @property
    def done(self):
        self.looks += 1
        return self.looks > 4

def test():
    worker = Worker()
    time.sleep(0.02)
    assert worker.done
"""
"""Done at the fifth look: no test waits for a clock."""


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """A clock that goes on by what polling sleeps, and by nothing else; the sleeps that it made."""
    sleeps: list[float] = []
    monkeypatch.setattr(wait_watch, "now_ns", lambda: round(sum(sleeps) * 1e9))
    monkeypatch.setattr(wait_watch, "sleep", sleeps.append)
    return sleeps


def seen(folder: Path, source: str, **waits: Any) -> tuple[dict[str, Any], Any]:
    found = record(folder, source, recipe={"flakeboard_recipe": 1, "waits": waits})
    return dict(found.trace.recipe["waits"]), found


def site_of(folder: Path, source: str, callee: str) -> list[Any]:
    values = seen(folder, source)[0]["values"]
    return next(list(row["site"]) for row in values if row["site"][2] == callee)[:4]


def test_values_are_told_in_the_trace(tmp_path: Path) -> None:
    source = (
        "import time, threading\ndef test():\n    for n in (1, 2):\n        time.sleep(n / 1000)\n"
        "    event = threading.Event()\n    event.set()\n    event.wait()\n"
    )
    told, _ = seen(tmp_path, source)
    assert [(row["site"][2:], row["values"]) for row in told["values"]] == [(["time.sleep", 1, 4], [0.001, 0.002])]
    assert (told["needed"], told["broke"]) == ([], "")


def test_without_the_recipe_nothing_is_told(tmp_path: Path) -> None:
    found = record(tmp_path, "import time\ndef test():\n    time.sleep(0)\n")
    assert "waits" not in found.trace.recipe


def test_a_value_is_scaled_where_it_is_passed(tmp_path: Path) -> None:
    source = (
        "import time, threading\ndef test():\n    time.sleep(30)\n    return threading.Event().wait(timeout=0.001)\n"
    )
    rule = {"site": ["project.py", "test", "time.sleep", 1], "do": "bound", "factor": 0.0}
    found = record(tmp_path, source, recipe={"flakeboard_recipe": 1, "waits": {}, "calls": [rule]})
    assert found.result is False
    values = {row["site"][2]: row["values"] for row in found.trace.recipe["waits"]["values"]}
    assert values == {"time.sleep": [0.0], "threading.Event.wait": [0.001]}


def test_a_condition_is_asked_until_it_holds_and_the_sleep_is_as_long_as_ever(
    tmp_path: Path, clock: list[float]
) -> None:
    site = site_of(tmp_path, SLEEPER, "time.sleep")
    told, found = seen(tmp_path, SLEEPER, poll={"site": site, "expression": "worker.done"})
    assert told["needed"] == [pytest.approx(0.008)] and clock == [0.002] * 4
    (sleep,) = found.of("time.sleep")
    assert sleep.took >= 12_000, "what was left of the sleep"
    assert found.trace.outcome == "passed"


def test_a_condition_that_never_holds(tmp_path: Path, clock: list[float]) -> None:
    source = SLEEPER.replace("self.looks > 4", "False")
    poll = {"site": site_of(tmp_path, source, "time.sleep"), "expression": "worker.done"}
    told, found = seen(tmp_path, source, poll=poll)
    assert told["needed"] == [None] and sum(clock) == pytest.approx(0.02)
    assert found.trace.outcome == "failed"


def test_a_condition_that_raises_ends_polling_for_that_run(tmp_path: Path, clock: list[float]) -> None:
    source = SLEEPER.replace("assert worker.done", "")
    poll = {"site": site_of(tmp_path, source, "time.sleep"), "expression": "worker.nothing"}
    told, found = seen(tmp_path, source, poll=poll)
    assert (told["needed"], told["broke"], clock) == ([], "AttributeError", [])
    assert found.trace.outcome == "passed" and found.trace.facts["trace_errors"] == 0


def test_an_awaited_sleep_lets_others_go_on_meanwhile(tmp_path: Path) -> None:
    source = """
import asyncio
async def main():
    found = []
    async def fill():
        await asyncio.sleep(0)
        found.append(1)
    task = asyncio.ensure_future(fill())
    await asyncio.sleep(0.02)
    assert len(found) == 1
    await task
def test():
    asyncio.run(main())
"""
    values = seen(tmp_path, source)[0]["values"]
    site = next(row["site"][:4] for row in values if row["values"] == [0.02])
    told, found = seen(tmp_path, source, poll={"site": site, "expression": "len(found) == 1"})
    (needed,) = told["needed"]
    assert needed is not None and needed > 0, "not at the first look, and before the end"
    assert found.trace.outcome == "passed"


@pytest.mark.parametrize("value", ["None", "True", "'1'"])
def test_what_is_no_time_is_no_value(tmp_path: Path, value: str) -> None:
    source = f"import threading\ndef test():\n    event = threading.Event()\n    event.set()\n    event.wait({value})\n"
    assert seen(tmp_path, source)[0]["values"] == []
