"""How long a request is tried again: a server that is away costs CI 20 seconds at most, and one that is busy its time."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from flakeboard.problems import Refused, Unreachable
from flakeboard.server.retries import attempt
from flakeboard.server.transport import CONNECT_SECONDS, Answer

LONG = 600.0
"""The deadline of a gate, far behind all that is tried here."""


class Clock:
    """Time that passes only by sleeping and by requests."""

    def __init__(self) -> None:
        self.now = 1_000.0

    def __call__(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        assert seconds >= 0
        self.now += seconds


def away(clock: Clock, seconds: float) -> Callable[[float], Answer]:
    """A server to which one cannot connect, which takes so long to find out."""

    def request(left: float) -> Answer:
        clock.sleep(min(seconds, left))
        raise Unreachable("nobody there")

    return request


def answering(clock: Clock, status: int, seconds: float, **headers: str) -> Callable[[float], Answer]:
    def request(left: float) -> Answer:
        clock.sleep(min(seconds, left))
        return Answer(status, {name.replace("_", "-"): value for name, value in headers.items()}, b"")

    return request


@pytest.mark.parametrize("seconds", [0.0, 0.1, 3.0, CONNECT_SECONDS])
def test_a_server_that_is_away_costs_20_seconds_at_most(seconds: float) -> None:
    clock = Clock()
    with pytest.raises(Unreachable, match=r"tried [0-9]+ times"):
        attempt(away(clock, seconds), LONG, clock=clock, sleep=clock.sleep)
    assert clock.now - 1_000.0 <= 20.0


@pytest.mark.parametrize("status", [500, 502, 503, 504, 408, 425])
def test_a_server_with_an_error_is_given_20_seconds_from_its_first_answer(status: int) -> None:
    clock = Clock()
    with pytest.raises(Refused):
        attempt(answering(clock, status, 0.2), LONG, clock=clock, sleep=clock.sleep)
    assert 5.0 < clock.now - 1_000.0 <= 20.5


def test_a_gate_that_thinks_for_a_minute_and_then_errs_is_asked_again() -> None:
    clock, times = Clock(), []

    def request(left: float) -> Answer:
        times.append(clock.now)
        clock.sleep(60.0 if len(times) == 1 else 0.1)
        return Answer(503 if len(times) < 3 else 200, {}, b"{}")

    assert attempt(request, LONG, clock=clock, sleep=clock.sleep).status == 200
    assert len(times) == 3


def test_a_busy_server_is_asked_until_the_deadline() -> None:
    clock = Clock()
    with pytest.raises(Refused):
        attempt(answering(clock, 429, 0.1, Retry_After="30"), 100.0, clock=clock, sleep=clock.sleep)
    assert 60.0 < clock.now - 1_000.0 <= 100.0


@pytest.mark.parametrize("pause", ["21", "3600"])
def test_a_pause_that_is_longer_than_we_wait_ends_it(pause: str) -> None:
    clock = Clock()
    with pytest.raises(Refused):
        attempt(answering(clock, 503, 0.1, Retry_After=pause), LONG, clock=clock, sleep=clock.sleep)
    assert clock.now - 1_000.0 < 1.0


def test_each_try_is_told_and_has_the_time_that_is_left() -> None:
    clock, told, left = Clock(), [], []

    def request(seconds: float) -> Answer:
        left.append(seconds)
        raise Unreachable("nobody there.")

    with pytest.raises(Unreachable):
        attempt(request, 5.0, told.append, clock=clock, sleep=clock.sleep)
    assert left == sorted(left, reverse=True) and left[0] == 5.0
    assert len(told) == len(left) - 1 > 0
    assert all(line.startswith("nobody there; trying again in ") for line in told)
