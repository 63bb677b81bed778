"""The comparison by arrays is the client's: the same differences, sentences, chances and counts."""

from __future__ import annotations

import random
from typing import Any

import pytest
from flakeboard.differences import comparison as plain
from flakeboard.differences.bodies import comparison_body
from flakeboard.differences.runs import Interned, run_of
from flakeboard.traces.reader import read_traces
from flakeboard.traces.trace import FAILED, PASSED, Event, Site, Token, Trace, TraceFile

from analytics.kernel.differences.comparison import Executions, compare
from ingest.lab.trace_files import written
from tests.extent import slice_of

ROLES = ("main", "main/flush#1", "main/load#1")
SITES = [
    Site("shop/cart.py", f"f{place % 4}", callee, 1 + place % 2, 10 + place)
    for place, callee in enumerate(
        (
            "random.random",
            "time.time",
            "time.monotonic",
            "os.path.exists",
            "queue.Queue.get",
            "code:shop.f",
            "os.listdir",
        )
        * 2
    )
]


def value_of(draw: random.Random, callee: str, bias: int) -> Any:
    if callee.startswith("time"):
        return draw.choice((1_000.0, 1_000.5, round(1_000 + draw.random(), 6)))
    if callee == "os.listdir":
        return Token("list", draw.randrange(3), draw.choice(("", "aa", "bb")))
    if callee == "random.random":
        return draw.choice((draw.random() + bias, -0.0, 0.0, draw.randrange(3), 2**60 + draw.randrange(3)))
    return draw.choice((None, True, False, 1, 1.0, draw.randrange(2) + bias))


def trace_of(draw: random.Random, failed: bool, biased: bool) -> Trace:
    """A few sites called often or seldom, in several roles, with exceptions, cuts, and calls after the failure."""
    events, now = [], 0
    for _ in range(draw.choice((0, 5, 40, 160))):
        site = draw.randrange(len(SITES)) if draw.random() < 0.7 else 0
        bias = int(biased and failed and site in (0, 3, 4))
        role = draw.choice((0, 0, 0, 1, 2)) if site % 3 else 0
        raised = None
        if draw.random() < (0.05 if not bias else 0.2):
            raised = Token(draw.choice(("Empty", "OSError")), None, "00", draw.choice(("", "EAGAIN")))
        took = draw.choice((5, draw.randrange(1_000), 50_000 if bias else 40))
        value = None if raised else value_of(draw, SITES[site].callee, bias)
        events.append(Event(site, role, value, now, took, raised))
        now += draw.randrange(60)
    failed_at = draw.choice((now, now * 2 // 3)) if failed else None
    raising = [place for place, event in enumerate(events) if event.raised is not None]
    counts = {(0, 0): sum(each.site == 0 and each.role == 0 for each in events) + 7} if draw.random() < 0.3 else {}
    facts = {"hash": draw.randrange(3), "load": draw.random(), "is_first": draw.random() < 0.5}
    outcome = FAILED if failed else PASSED
    return Trace(
        "t", 1, outcome, "OSError" if failed else "", failed_at, ROLES, tuple(events), counts,
        tuple(raising[-1:]) if failed else (), facts=facts, cut=int(draw.random() < 0.1),
        recipe={"stir": "hash"} if draw.random() < 0.3 else {},
    )  # fmt: skip


@pytest.mark.parametrize("seed", slice_of(range(30), 10))
def test_the_same_answer_as_the_clients(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("flakeboard.differences.chances.RELABELLINGS", 60)
    monkeypatch.setattr("flakeboard.differences.orders.PAIR_CALLS", 8)
    monkeypatch.setattr("analytics.kernel.differences.comparison.PAIR_CALLS", 8)
    monkeypatch.setattr("analytics.kernel.differences.cells.ROWS", 40)
    draw = random.Random(seed)
    failed, passed = draw.choice(((1, 6), (3, 9), (6, 12), (12, 8)))
    sides = [True] * failed + [False] * passed
    draw.shuffle(sides)
    interned, runs, executions = Interned(), [], Executions()
    for is_failing in sides:
        trace = trace_of(draw, is_failing, biased=seed % 2 == 0)
        file = read_traces(written(TraceFile("sources", "3.12.1", "", {}, SITES, [], [trace])))
        runs.append(run_of(file, file.traces[0], interned))
        executions.add(file, file.traces[0])
    expected, found = plain.compare(runs), compare(executions)
    assert comparison_body(found) == comparison_body(expected)
    assert found == expected
