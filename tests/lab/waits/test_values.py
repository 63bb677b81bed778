"""Time values of a test: in its source, and as they were passed when it ran."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent

import pytest
from flakeboard.differences.runs import Interned, Run, run_of
from flakeboard.traces.trace import Function, Site
from flakeboard.waits.conditions import Condition, condition_after, pasted
from flakeboard.waits.search import INTERVAL, SLEEP, TIMEOUT
from flakeboard.waits.source_values import source_values
from flakeboard.waits.values import chosen, values_of

from tests.lab.why.recording import record

SOURCE = """
import asyncio as aio
import subprocess, threading, time
from time import sleep as pause
import pytest, requests

WAIT = 0.25

def helper(timeout=3, *, step=None):
    while True:
        time.sleep(0.1)
    requests.get("http://x", timeout=timeout)

@pytest.mark.timeout(60)
def test_it():
    pause(WAIT)
    threading.Event().wait(2)
    subprocess.run(["x"], timeout=2 * WAIT)
    ", ".join(["a"])
    threading.Event().wait()
    wait_until(done, timeout=4, interval=0.5)
    WebDriverWait(driver, 10)
    socket.settimeout(1.5)
    driver.implicitly_wait(7)
    page.click("#a", timeout=5000)

async def test_other():
    await aio.sleep(1)
    await aio.wait_for(work(), 5)
    await aio.wait_for(work(), None)
"""


def test_values_in_source() -> None:
    found = [(value.callee, value.kind, value.value, value.origin) for value in source_values(SOURCE)]
    assert found == [
        ("time.sleep", INTERVAL, 0.1, "written there"),
        ("requests.get", TIMEOUT, 3.0, "parameter timeout"),
        ("pytest.mark.timeout", TIMEOUT, 60.0, "written there"),
        ("time.sleep", SLEEP, 0.25, "WAIT, line 7"),
        ("wait", TIMEOUT, 2.0, "written there"),
        ("subprocess.run", TIMEOUT, None, "2 * WAIT"),
        ("wait_until", TIMEOUT, 4.0, "written there"),
        ("WebDriverWait", TIMEOUT, 10.0, "written there"),
        ("socket.settimeout", TIMEOUT, 1.5, "written there"),
        ("driver.implicitly_wait", TIMEOUT, 7.0, "written there"),
        ("page.click", TIMEOUT, 5000.0, "written there"),
        ("asyncio.sleep", SLEEP, 1.0, "written there"),
        ("asyncio.wait_for", TIMEOUT, 5.0, "written there"),
    ]


@pytest.mark.parametrize("text", ["def (", "", "x = 1", "\0"])
def test_a_file_that_has_none_or_is_no_python(text: str) -> None:
    assert source_values(text) == []


def test_functions_are_named_as_python_names_them() -> None:
    text = (
        "import time\nclass A:\n    def f(self):\n        def g():\n            time.sleep(1)\n        time.sleep(2)\n"
    )
    assert [value.function for value in source_values(text)] == ["A.f.<locals>.g", "A.f"]


# -- what ran ----------------------------------------------------------------------------------------------------

MADE = """
import threading, time
def unused():
    time.sleep(9)
def helper(seconds):
    time.sleep(seconds)
def test():
    helper(0.001)
    helper(0.003)
    threading.Event().wait(
        timeout=0.002)
    threading.Event().wait(0)
def test_other():
    time.sleep(5)
"""


def recorded(folder: Path, source: str = MADE, **recipe: object) -> Run:
    found = record(folder, source, recipe={"flakeboard_recipe": 1, "waits": {}, **recipe})
    return run_of(found.file, found.trace, Interned())


def on_an_idle_machine(run: Run) -> Run:
    """The run, had every sleep taken just as long as it was told: a busy machine may stretch the shortest one most."""
    told = {Site(*row["site"]): int(1e6 * row["values"][0]) for row in run.recipe["waits"]["values"]}
    return run._replace(calls={key: call._replace(took=told[key[0]]) for key, call in run.calls.items()})


def test_what_ran_and_what_is_written_are_put_together(tmp_path: Path) -> None:
    runs = [recorded(tmp_path), recorded(tmp_path)]
    values = values_of("project.py::test", runs, [], lambda file: MADE if file == "project.py" else "")
    by_line = {value.line: value for value in values}
    assert sorted(by_line) == [4, 6, 10, 12], "not the one of another test"
    helper, waits, unused, none = by_line[6], by_line[10], by_line[4], by_line[12]
    assert (helper.callee, helper.kind, helper.can_vary) == ("time.sleep", SLEEP, True)
    assert helper.value == pytest.approx(0.002) and not helper.is_constant
    assert helper.seconds is not None and helper.seconds >= 0.004 and helper.origin == "parameter seconds"
    assert (waits.kind, waits.value, waits.is_constant) == (TIMEOUT, 0.002, True)
    assert (unused.value, unused.can_vary, unused.reason) == (9.0, False, "no run came there")
    assert (none.value, none.can_vary, none.reason) == (0.0, False, "it waits for no time")


def test_with_code_the_functions_in_reach_are_listed_too() -> None:
    text = "import time\ndef used():\n    time.sleep(1)\ndef other():\n    time.sleep(2)\n"
    files = {"shop.py": text, "test_it.py": ""}
    reach = [Function("shop.py", "used", 2, 3)]
    found = values_of("test_it.py::test", [], reach, files.__getitem__, code=True)
    assert [value.place for value in found] == ["shop.py:3"]
    assert values_of("test_it.py::test", [], reach, files.__getitem__) == []


@pytest.mark.parametrize(
    ("test", "lines"),
    [("t.py::test_a[x-1]", [3, 12]), ("t.py::TestB::test_a", [6, 12]), ("t.py::TestB::test_c[y]", [8, 9, 12])],
)
def test_values_of_a_parametrised_test_and_of_one_in_a_class(test: str, lines: list[int]) -> None:
    source = """import time
def test_a(x):
    time.sleep(1)
class TestB:
    def test_a(self):
        time.sleep(2)
    def test_c(self):
        time.sleep(3)
        (lambda: time.sleep(4))()
import pytest
def helper():
    time.sleep(5)
"""
    assert sorted(value.line for value in values_of(test, [], [], lambda file: source)) == lines


def test_those_that_why_named_come_first_then_those_that_wait_longest(tmp_path: Path) -> None:
    source = "import time\ndef test():\n    time.sleep(0.001)\n    time.sleep(0.006)\n    while True:\n        time.sleep(0.012)\n        break\n"
    run = on_an_idle_machine(recorded(tmp_path, source))
    values = values_of("project.py::test", [run], [], lambda file: source)
    assert [value.line for value in chosen(values, "", [], 4)] == [4, 3], "an interval is none"
    named = next(value.site for value in values if value.line == 3)
    assert named is not None
    assert [value.line for value in chosen(values, "", [named], 4)] == [3, 4]
    assert [value.line for value in chosen(values, "", [], 1)] == [4]
    assert [value.line for value in chosen(values, "project.py:6", [], 4)] == [6]
    assert chosen(values, "project.py:1", [], 4) == []


# -- conditions --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "asked",
    ["worker.done", "len(found) == 3", "a.b[0] and not event.is_set()", "queue.qsize() > 1", "process.poll() is None"],
)
def test_pure_conditions(asked: str) -> None:
    text = f"def test():\n    time.sleep(1)\n    assert {asked}, 'text'\n"
    assert condition_after(text, 2) == Condition(asked, False, "    ")


@pytest.mark.parametrize(
    "after",
    ["assert worker.run()", "worker.check()", "assert (x := 1)", "assert f'{x}'", "assert len(pop()) == 1", "done = 1"],
)
def test_what_is_not_pure_is_not_asked_early(after: str) -> None:
    assert condition_after(f"def test():\n    time.sleep(1)\n    {after}\n", 2) is None


def test_the_text_to_paste_is_python_and_waits() -> None:
    condition = condition_after("async def test():\n    await asyncio.sleep(1)\n    assert a.done\n", 2)
    assert condition is not None and condition.is_awaited
    text = pasted(condition, 2.5)
    assert text.splitlines()[0] == "    deadline = time.monotonic() + 2.5"
    assert "await asyncio.sleep(0.01)" in text
    compile("import time, asyncio\nasync def test(a):\n" + text, "pasted", "exec")
    happened = dedent(pasted(Condition("state[0]", False, ""), 5))
    state = [False]
    sleeps = []

    class Clock:
        monotonic = staticmethod(lambda: float(len(sleeps)))

        @staticmethod
        def sleep(seconds: float) -> None:
            sleeps.append(seconds)
            state[0] = len(sleeps) == 3

    exec(happened, {"time": Clock, "state": state})
    assert len(sleeps) == 3
