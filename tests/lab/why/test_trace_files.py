"""The file format: what is written can be read, and whatever else comes is refused with its line."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest
from flakeboard.traces.limits import Limits
from flakeboard.traces.reader import Refusal, is_trace, read_traces
from flakeboard.traces.trace import FAILED, Event, Function, Site, Token, Trace
from flakeboard.traces.writer import TraceWriter
from flakeboard.tracing.events import Events, RawEvent

from tests.lab.why.recording import record

SITES = [Site("shop/price.py", "Cart.total", "random.random", 1, 17), Site("shop/price.py", "f", "open", 1, 20)]
FUNCTIONS = [Function("shop/price.py", "Cart.total", 10, 30)]
EVENTS = (
    Event(0, 0, 0.931, 0, 1),
    Event(0, 0, True, 120, 1),
    Event(0, 1, 1, 129, 50_210),
    Event(1, 0, None, 140, 3, Token("FileNotFoundError", None, "0123456789abcdef", "ENOENT"), "data/rates.json"),
    Event(1, 0, Token("TextIOWrapper", 3, "", "", "x"), 150, 3),
)
TRACE = Trace(
    *("tests/test_cart.py::test_total[eur]", 1, FAILED, "AssertionError", 512_300, ("main", "main/flush#1"), EVENTS),
    counts={(0, 0): 70},
    symptoms=(3,),
    reach=(0,),
    files=("data/rates.json",),
    facts={"hash": 5, "zone": "UTC", "load": 0.5, "is_first": True},
    recipe={"stir": "random", "seed": 3},
    cut=2,
)


def written(*traces: Trace) -> bytes:
    lines: list[str] = []
    writer = TraceWriter(lines.append, "sources", "3.12.1", "gw0", {"cores": 2})
    for trace in traces:
        writer.add(trace, SITES, FUNCTIONS)
    return "".join(lines).encode()


def test_what_is_written_is_read_again() -> None:
    again = TRACE._replace(attempt=2, outcome="passed", raised="", failed_at=None, reach=(), symptoms=(), counts={})
    file = read_traces(written(TRACE, again))
    assert file.traces == [TRACE, again]
    assert (file.level, file.python, file.worker, file.facts, file.is_whole) == (
        "sources",
        "3.12.1",
        "gw0",
        {"cores": 2},
        True,
    )
    assert (file.sites, file.functions) == (SITES, FUNCTIONS)
    assert type(file.traces[0].events[1].value) is bool and type(file.traces[0].events[2].value) is int


def test_tables_are_written_once() -> None:
    content = written(TRACE, TRACE._replace(attempt=2))
    assert content.count(b'"sites"') == content.count(b'"tokens"') == 1


def test_a_torn_last_line_is_left_out() -> None:
    content = written(TRACE, TRACE._replace(attempt=2))
    file = read_traces(content[:-10])
    assert (file.traces, file.is_whole) == ([TRACE], False)


def test_a_trace_is_known_by_its_first_line() -> None:
    assert is_trace(written(TRACE)) and is_trace(b'{ "flakeboard_trace": 9}')
    assert not is_trace(b'{"traces": 1}') and not is_trace(b"<testsuite/>")


HEAD = '{"flakeboard_trace":1,"level":"sources","python":"","worker":"","facts":{}}'
SITE = '{"sites":[["a","b","c",1,1]],"from":0}'
TOKEN = '{"tokens":[null, 1],"from":0}'
GOOD: dict[str, Any] = {
    "test": "t",
    "attempt": 1,
    "outcome": "passed",
    "roles": ["main"],
    "site": [0],
    "role": [0],
    "value": [0],
    "start": [0],
    "took": [0],
}


def refusal(*lines: Any, limits: Limits | None = None) -> tuple[str, int]:
    content = "\n".join(line if isinstance(line, str) else json.dumps(line) for line in lines) + "\n"
    with pytest.raises(Refusal) as refused:
        read_traces(content.encode(), limits or Limits())
    return refused.value.code, refused.value.line


def test_the_good_execution_is_good() -> None:
    lines = [HEAD, SITE, TOKEN, json.dumps(GOOD)]
    assert read_traces(("\n".join(lines) + "\n").encode()).traces[0].events == (Event(0, 0, None, 0, 0),)


@pytest.mark.parametrize(
    "change",
    [
        {"took": []},
        {"site": [1]},
        {"role": [1]},
        {"value": [2]},
        {"value": [True]},
        {"start": [-1]},
        {"start": [1.5]},
        {"start": [2**60]},
        {"site": "0"},
        {"roles": [3]},
        {"roles": ["x" * 513]},
        {"outcome": "fine"},
        {"test": "x" * 513},
        {"attempt": "1"},
        {"raised_at": {"1": 0}},
        {"raised_at": {"0": 1}},
        {"raised_at": {"-1": 0}},
        {"raised_at": [0]},
        {"about": {"0": 3}},
        {"counts": [[0, 0]]},
        {"counts": [[1, 0, 5]]},
        {"symptoms": [1]},
        {"reach": [0]},
        {"files": [1]},
        {"facts": {"a": []}},
        {"facts": {str(number): 1 for number in range(101)}},
        {"recipe": {"a": [[[[[[[[1]]]]]]]]}},
        {"recipe": {"a": "x" * 513}},
        {"cut": None},
    ],
    ids=str,
)
def test_a_wrong_execution_is_refused_with_its_line(change: dict[str, Any]) -> None:
    assert refusal(HEAD, SITE, TOKEN, {**GOOD, **change}) == ("trace_malformed", 4)


@pytest.mark.parametrize(
    "line",
    [
        "[]",
        "{",
        "\udcff".encode("utf-8", "surrogateescape").decode("latin-1"),
        '{"tokens":[NaN],"from":0}',
        '{"tokens":[Infinity],"from":0}',
        '{"tokens":[1e999],"from":0}',
        '{"tokens":[' + "9" * 5_000 + '],"from":0}',
        '{"tokens":[9223372036854775808],"from":0}',
        '{"tokens":[{"n":1}],"from":0}',
        '{"tokens":[{"t":"str","d":"word"}],"from":0}',
        '{"tokens":["word"],"from":0}',
        '{"tokens":[1],"from":1}',
        '{"tokens":[1],"from":false}',
        '{"tokens":[1],"sites":[],"from":0}',
        '{"sites":[["a","b","c",1]],"from":0}',
        '{"functions":[["a","b",1]],"from":0}',
        '{"else":1}',
        "[" * 100_000,
    ],
    ids=lambda line: line[:40],
)
def test_a_wrong_line_is_refused_with_its_number(line: str) -> None:
    assert refusal(HEAD, line) == ("trace_malformed", 2)


def test_heads() -> None:
    assert refusal('{"flakeboard_trace":2}') == ("trace_version", 1)
    assert refusal('{"flakeboard_trace":1,"level":"all"}') == ("trace_malformed", 1)
    assert refusal(SITE) == ("trace_malformed", 1)
    with pytest.raises(Refusal):
        read_traces(b"")


def test_limits() -> None:
    assert refusal(HEAD, SITE, TOKEN, GOOD, GOOD) == ("trace_malformed", 5)
    assert refusal(HEAD, SITE, limits=Limits(sites=0)) == ("trace_malformed", 2)
    assert refusal(HEAD, TOKEN, limits=Limits(tokens=1)) == ("trace_malformed", 2)
    assert refusal(HEAD, SITE, TOKEN, GOOD, limits=Limits(events=0)) == ("trace_malformed", 4)
    assert refusal(HEAD, SITE, TOKEN, GOOD, limits=Limits(roles=0)) == ("trace_malformed", 4)
    assert refusal(HEAD, limits=Limits(line=10)) == ("trace_malformed", 1)


def test_executions_past_the_limit_are_counted() -> None:
    file = read_traces(written(TRACE, TRACE._replace(attempt=2), TRACE._replace(attempt=3)), Limits(traces=2))
    assert ([trace.attempt for trace in file.traces], file.left_out) == ([1, 2], 1)


def test_a_trace_that_is_too_large_harms_no_other() -> None:
    draw = random.Random(1)
    noise = TRACE._replace(test="large", files=tuple(f"{draw.random()}" for _ in range(200)))
    file = read_traces(written(noise, TRACE), Limits(bytes=1_000))
    assert (file.traces, file.too_large) == ([TRACE], (("large", 1),))


def test_damaged_files_are_read_or_refused_and_nothing_else() -> None:
    """Bytes changed, lost and doubled at random."""
    content, draw = written(TRACE, TRACE._replace(attempt=2)), random.Random(20261117)
    refused = 0
    for _ in range(400):
        damaged = bytearray(content)
        for _ in range(draw.randint(1, 4)):
            place = draw.randrange(len(damaged))
            damaged[place : place + draw.choice((0, 1, 1, 5))] = bytes(
                draw.choices(range(256), k=draw.choice((0, 1, 2)))
            )
        try:
            read_traces(bytes(damaged))
        except Refusal:
            refused += 1
    assert refused > 200


# -- what is kept of long executions -----------------------------------------------------------------------------


def raw(site: int, start: int) -> RawEvent:
    return RawEvent(site, "main", start, start, 0, None, "", 0)


def test_of_a_site_the_first_and_the_last_calls_are_kept_and_all_are_counted() -> None:
    events = Events()
    for number in range(1_000):
        events.add(raw(0, number))
    kept, counts = events.sorted()
    assert [event.start for event in kept] == [*range(45), *range(995, 1_000)]
    assert counts == {(0, "main"): 1_000}


def test_of_a_long_execution_the_middle_is_cut() -> None:
    events = Events(limit=100)
    for number in range(500):
        events.add(raw(number, number))
    kept, _ = events.sorted()
    assert [event.start for event in kept] == [*range(50), *range(450, 500)]
    assert events.cut == 400
    assert len(events._first) + len(events._last) == 100, "also while it runs, so that memory is bounded"


def test_a_recorded_execution_is_small(tmp_path: Path) -> None:
    source = "import random\ndef test():\n    for _ in range(2000):\n        random.random()\n"
    recorded = record(tmp_path, source)
    assert len(recorded.trace.events) == 50 and recorded.trace.counts == {(0, 0): 2_000}
