"""Recipes: what they hold, force and stir while a test runs, and that all is as before afterwards."""

from __future__ import annotations

import datetime
import json
import os
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from flakeboard.tracing.recipes import STIRS, WrongRecipe, read_recipe, stirred

from tests.lab.why.recording import Recorded, record


def with_recipe(folder: Path, source: str, **recipe: Any) -> Recorded:
    return record(folder, source, recipe={"flakeboard_recipe": 1, **recipe})


def rule(callee: str, **more: Any) -> dict[str, Any]:
    return {"site": ["project.py", "test", callee, 1], **more}


def test_a_call_is_answered(tmp_path: Path) -> None:
    source = "import random\ndef test():\n    return [random.random() for _ in 'ab'] if 0 else (random.random(), random.random())\n"
    site = ["project.py", "test", "random.random", 2]
    recorded = with_recipe(tmp_path, source, calls=[{"site": site, "do": "answer", "value": 0.25}])
    assert recorded.result[1] == 0.25 != recorded.result[0]


def test_only_the_call_that_is_named_is_answered(tmp_path: Path) -> None:
    source = "import random\ndef test():\n    found = []\n    for _ in range(3):\n        found.append(random.random())\n    return found\n"
    recorded = with_recipe(tmp_path, source, calls=[rule("random.random", k=1, do="answer", value=7)])
    assert [value == 7 for value in recorded.result] == [False, True, False]


@pytest.mark.parametrize(
    ("how", "kind"),
    [({"errno": "ECONNREFUSED"}, ConnectionRefusedError), ({"type": "TimeoutError"}, TimeoutError)],
)
def test_an_exception_is_raised(tmp_path: Path, how: dict[str, str], kind: type) -> None:
    source = "import os\ndef test():\n    try:\n        os.listdir('.')\n    except Exception as error:\n        return type(error)\n"
    assert with_recipe(tmp_path, source, calls=[rule("os.listdir", do="raise", **how)]).result is kind


def test_a_bound_is_changed(tmp_path: Path) -> None:
    def source(set_after: float) -> str:
        """Of another length each time: Python takes a file of the same length and second for the same."""
        return (
            "import threading\ndef test():\n    e = threading.Event()\n"
            f"    timer = threading.Timer({set_after}, e.set); timer.start()\n"
            "    came = e.wait(0.02); timer.cancel()\n    return came\n"
        )

    assert record(tmp_path, source(set_after=600)).result is False
    changed = [rule("threading.Event.wait", do="bound", factor=30_000)]
    assert with_recipe(tmp_path, source(set_after=0.25), calls=changed).result is True


def test_a_role_and_a_call_are_delayed(tmp_path: Path) -> None:
    source = """
import queue, threading, time
def test():
    q = queue.Queue()
    a = threading.Thread(target=lambda: q.put("a")); b = threading.Thread(target=lambda: q.put("b"))
    a.start(); b.start(); a.join(); b.join()
    return q.get() + q.get()
"""
    plenty = 2.0  # for the other thread to come first, on whatever machine
    assert with_recipe(tmp_path, source, roles={"main/test.<locals>.<lambda>#1": plenty}).result == "ba"
    site = ["project.py", "test.<locals>.<lambda>", "queue.Queue.put", 1]
    delayed = {"site": site, "role": "main/test.<locals>.<lambda>#2", "do": "delay", "seconds": plenty}
    assert with_recipe(tmp_path, source, calls=[delayed]).result == "ab"


def test_randomness_is_seeded(tmp_path: Path) -> None:
    source = "import random\ndef test():\n    return random.random()\n"
    results = [with_recipe(tmp_path, source, seed=seed).result for seed in (3, 3, 4)]
    assert results[0] == results[1] != results[2]


def test_listings_are_permuted(tmp_path: Path) -> None:
    for number in range(6):
        (tmp_path / f"f{number}").touch()
    source = (
        "import os, glob\nhere = os.path.dirname(__file__)\n"
        "def test():\n    return os.listdir(here), [e.name for e in os.scandir(here)], glob.glob(here + '/f*')\n"
    )
    results = [with_recipe(tmp_path, source, listing=seed).result for seed in (1, 1, 2)]
    assert results[0][0] == results[1][0] != results[2][0]
    assert sorted(results[0][0]) == sorted(results[2][0]) and len(results[0][1]) == len(results[0][0])
    assert sorted(results[0][2]) == sorted(results[2][2]) != results[2][2]


CLOCK = """
import datetime, time
from datetime import date, datetime as moment
def test():
    first, second = time.time(), datetime.datetime.now()
    return first, second, moment.now(), date.today(), isinstance(datetime.datetime(2020, 1, 1), moment), time.monotonic()
"""


def test_the_clock_is_just_before_a_boundary(tmp_path: Path) -> None:
    real = (datetime.datetime, datetime.date, time.time)
    first, second, third, today, known, _ = with_recipe(tmp_path, CLOCK, clock={"before": "month"}).result
    assert (datetime.datetime, datetime.date, time.time) == real
    before = datetime.datetime.fromtimestamp(first)
    assert (before + datetime.timedelta(seconds=1)).day == 1 and before.day >= 28
    assert abs(second.timestamp() - first) < 60 and abs(third.timestamp() - first) < 60
    assert today in (before.date(), before.date() + datetime.timedelta(days=1)) and known


def test_parts_of_the_clock_are_set_and_readings_are_recorded(tmp_path: Path) -> None:
    recorded = with_recipe(tmp_path, CLOCK, clock={"minute": 58, "second": 30})
    assert datetime.datetime.fromtimestamp(recorded.result[0]).minute == 58
    readings = recorded.of("datetime.datetime.now")
    assert [datetime.datetime.fromtimestamp(call.value).minute for call in readings] == [58, 58]


def test_the_monotonic_clock_is_never_changed(tmp_path: Path) -> None:
    before = time.monotonic()
    result = with_recipe(tmp_path, CLOCK, clock={"before": "month"}).result[5]
    assert before <= result <= time.monotonic()


def test_a_status_is_answered(tmp_path: Path) -> None:
    source = """
import http.client, http.server, threading
class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self): self.send_response(200); self.end_headers()
    def log_message(self, *given): pass
def test():
    server = http.server.HTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.handle_request); thread.start()
    connection = http.client.HTTPConnection(*server.server_address); connection.request("GET", "/")
    status = connection.getresponse().status
    connection.close(); thread.join(); server.server_close()
    return status
"""
    plain = record(tmp_path, source)
    assert plain.result == 200 and [call.value for call in plain.of("http.client.HTTPConnection.getresponse")] == [200]
    assert (
        with_recipe(
            tmp_path, source, calls=[rule("http.client.HTTPConnection.getresponse", do="status", value=503)]
        ).result
        == 503
    )


def test_the_zone_and_the_switch_interval(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TZ", "UTC")
    interval = sys.getswitchinterval()
    source = "import sys, time\ndef test():\n    return time.strftime('%z'), sys.getswitchinterval()\n"
    try:
        zone, switch = with_recipe(tmp_path, source, zone="Pacific/Kiritimati", threads=True).result
    finally:
        assert os.environ["TZ"] == "Pacific/Kiritimati", "a zone lasts as long as its process"
        monkeypatch.undo()
        time.tzset()
        sys.setswitchinterval(interval)
    assert zone == "+1400" and switch < interval / 100


def test_delays_hold_up_some_calls_and_the_same_ones_again(tmp_path: Path) -> None:
    source = "import os\ndef test():\n    for _ in range(30):\n        os.path.exists('x')\n"
    recorded = with_recipe(tmp_path, source, delays=5, calls=[])
    gaps = [
        later.start - earlier.start
        for earlier, later in zip(recorded.trace.events, recorded.trace.events[1:], strict=False)
    ]
    seeds = [number for number in range(12) if max(_gaps(tmp_path, source, number)) > 900]
    assert 0 < len(seeds) < 12 and len(gaps) == 29


def _gaps(folder: Path, source: str, number: int) -> list[int]:
    events = with_recipe(folder, source.replace("30", "4"), delays=number).trace.events
    return [later.start - earlier.start for earlier, later in zip(events, events[1:], strict=False)]


def test_a_recipe_for_another_test_does_nothing(tmp_path: Path) -> None:
    source = "import random\ndef test():\n    return random.random()\n"
    recorded = with_recipe(tmp_path, source, test="other", calls=[rule("random.random", do="answer", value=5)])
    assert recorded.result < 1 and recorded.trace.recipe == {}


@pytest.mark.parametrize("kind", STIRS)
def test_what_was_stirred_is_told(kind: str) -> None:
    assert stirred(kind, 3)["stir"] == kind and json.dumps(stirred(kind, 3)) == json.dumps(stirred(kind, 3))


def test_files_that_are_no_recipes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PYTHONHASHSEED", raising=False)
    path = tmp_path / "recipe.json"
    for content in ("{", "[]", '{"flakeboard_recipe": 2}', '{"flakeboard_recipe": 1, "hash": 3}'):
        path.write_text(content)
        with pytest.raises(WrongRecipe):
            read_recipe(str(path))
    monkeypatch.setenv("PYTHONHASHSEED", "3")
    assert read_recipe(str(path))["hash"] == 3
