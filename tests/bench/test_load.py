"""`make load` in small: what it says of answers, and that a few uploaders on real processes lose nothing."""

import random
from collections.abc import Iterator
from itertools import islice

import pytest

from bench.outcome import Outcome
from bench.server import load, traffic
from bench.server.traffic import Answer, Plan, ProjectAccess, Sample, Traffic, View
from tests.bench.running import assert_said, small_bench
from tests.extent import only_whole
from tests.server.provision import NO_REDIS, redis_server

TEN = Sample(b"", cases=10, failed=1)


def answer(build: str, status: int = 202, seconds: float = 0.1, slug: str = "shop") -> Answer:
    return Answer(slug, build, TEN, status, seconds)


def told(outcomes: Iterator[Outcome]) -> dict[str, Outcome]:
    return {outcome.what.strip(): outcome for outcome in outcomes}


# -- what is said of answers -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("stored", "missing"),
    [
        ({("shop", "1"): (1, 10, 1, 1)}, []),
        ({}, [("shop", "1")]),
        ({("shop", "1"): (2, 20, 2, 2)}, [("shop", "1")]),
        ({("shop", "1"): (1, 9, 1, 1)}, [("shop", "1")]),
        ({("shop", "1"): (1, 10, 1, 0)}, [("shop", "1")]),
        ({("other", "1"): (1, 10, 1, 1)}, [("shop", "1")]),
    ],
    ids=["counted", "lost", "twice", "a test less", "a failure less", "in another project"],
)
def test_what_was_accepted_must_be_there_once_with_its_counts(stored: dict, missing: list) -> None:
    assert load.uncounted([answer("1")], stored) == missing


def test_what_was_refused_need_not_be_there() -> None:
    assert load.uncounted([answer("1", 503), answer("2", 0)], {}) == []


@pytest.mark.parametrize(
    ("status", "bar"),
    [(500, "answered 5xx, or not at all"), (503, "answered 5xx, or not at all"), (0, "answered 5xx, or not at all")]
    + [(429, "answered anything else"), (200, "answered anything else")],
)
def test_one_answer_that_is_no_202_misses_a_bar(status: int, bar: str) -> None:
    outcomes = told(load.answered([answer("1"), answer("2", status)], took=1))
    assert [name for name, one in outcomes.items() if not one.good] == [bar]
    assert outcomes["uploads a second"].value == 1
    assert outcomes["results a second"].value == 10


def test_slow_answers_miss_the_bar_and_refusals_are_not_timed() -> None:
    slow = [answer(str(at), seconds=0.6) for at in range(10)]
    quick = [answer(str(at), seconds=0.01) for at in range(10, 20)]
    outcomes = told(load.answered([*slow, *quick], took=1))
    assert (outcomes["202, p50"].value, outcomes["202, p95"].good) == (pytest.approx(305), False)
    assert told(load.answered([*quick, answer("x", 503, 9)], took=1))["202, p95"].good


def test_nothing_answered_is_no_success() -> None:
    assert not told(load.answered([], took=1))["202, p95"].good
    assert not told(load.read([]))["pages opened meanwhile"].good


def test_each_page_has_its_bar() -> None:
    outcomes = told(load.read([View("Run", 200, 0.1), View("Test", 200, 0.9), View("Test", 404, 0.1)]))
    assert [name for name, one in outcomes.items() if not one.good] == ["not answered 200", "Test, p95 of 2"]


# -- what is sent ------------------------------------------------------------------------------------------------


def test_samples_say_what_is_in_them() -> None:
    known = traffic.samples()
    assert {cases: {one.cases for one in same} for cases, same in known.items()} == {
        10: {10},
        1_000: {1_000},
        20_000: {20_000},
    }
    assert all(0 < one.failed == one.content.count(b"</failure>") for same in known.values() for one in same)
    assert len({one.content for one in known[1_000]}) == len(known[1_000])


def test_sizes_are_mixed_by_their_shares() -> None:
    known = {cases: [Sample(b"", cases, 0)] for cases in traffic.SIZES}
    sent = [one.cases for one in islice(traffic.mixed(known, random.Random(1)), 4_000)]
    assert {cases: sent.count(cases) / 4_000 for cases in known} == pytest.approx(traffic.SIZES, abs=0.03)


def test_uploaders_end_when_the_count_is_reached() -> None:
    """Whatever the time that they have; each build is sent once."""
    sent = Traffic(
        accept, [ProjectAccess("shop", "secret")], "sessionid=x", Plan(seconds=60, uploaders=3, pause=0, most=50)
    )
    sent.run()
    assert 50 <= len(sent.answers) < 60
    assert len({one.build for one in sent.answers}) == len(sent.answers)
    assert {answer.status for answer in sent.answers} == {202}


def test_uploaders_go_on_when_nothing_answers() -> None:
    def hang_up(*_: object, **__: str) -> tuple[int, bytes]:
        raise ConnectionResetError

    sent = Traffic(hang_up, [ProjectAccess("shop", "secret")], "", Plan(seconds=60, uploaders=1, pause=0, most=3))
    sent.run()
    assert [answer.status for answer in sent.answers] == [0, 0, 0]


def test_readers_go_from_lists_to_what_is_on_them() -> None:
    views = Traffic(accept, [ProjectAccess("shop", "secret")], "sessionid=x", Plan()).tour("shop")
    assert [(one.page, one.status) for one, _ in views] == [
        *(("Overview", 200), ("Tests", 200), ("Test", 200), ("Runs", 200), ("Run", 200))
    ]


def accept(method: str, path: str, body: bytes | None = None, **headers: str) -> tuple[int, bytes]:
    """A server that lets in whoever has the token, or the cookie."""
    if method == "POST":
        assert headers["Authorization"] == "Bearer secret"
        return 202, b""
    assert headers["Cookie"] == "sessionid=x"
    known = {"/projects/shop/", "/projects/shop/tests", "/projects/shop/runs", *LINKS}
    return (200 if path in known else 404), " ".join(LINKS).encode()


LINKS = ("/projects/shop/tests/7", "/projects/shop/runs/9", "/projects/shop/runs/8")


# -- the whole of it ---------------------------------------------------------------------------------------------


@only_whole
@pytest.mark.processes
@pytest.mark.skipif(redis_server() is None, reason=NO_REDIS)
def test_a_few_uploaders_on_real_processes_lose_nothing() -> None:
    """How quick it was is not asked here."""
    size = ["--seconds", "2", "--uploaders", "3", "--pause", "0.2", "--projects", "1", "--backlog", "4", "--turns", "1"]
    said = small_bench("load", *size)
    none = (
        "answered 5xx, or not at all",
        "answered anything else",
        "answered 202 and not processed exactly once",
        "stored and never sent",
        "not answered 200",
    )
    assert_said(said, *(f"{bar}: 0  [ok: at most 0]" for bar in none))
    assert any(line.startswith("two worker processes against one: ") for line in said)
