"""Time: a clock that is too coarse, a boundary between two readings, a minute, a zone, a range that is too narrow."""

import datetime
import time
from datetime import date

from jitter import jitter


def stamp():
    return int(time.time() * 1_000)


def is_quiet_hour():
    return datetime.datetime.now().minute >= 58


def work():
    return sum(range(25_000))


def test_stamps():
    first = stamp()
    work()
    second = stamp()
    assert first != second


def test_stamps_stable():
    first = stamp()
    work()
    second = stamp()
    assert first <= second


def test_same_second():
    first = datetime.datetime.now().second
    time.sleep(0.2)
    second = datetime.datetime.now().second
    assert first == second


def test_same_second_stable():
    first = datetime.datetime.now()
    time.sleep(0.2)
    second = datetime.datetime.now()
    assert (second - first).total_seconds() < 60


def test_minute():
    assert not is_quiet_hour()


def test_minute_stable():
    assert is_quiet_hour() in (True, False)


def test_today():
    assert date.today() == datetime.datetime.now(datetime.timezone.utc).date()  # noqa: UP017 - runs on Python 3.8, too


def test_today_stable():
    assert abs((date.today() - datetime.datetime.now(datetime.timezone.utc).date()).days) <= 1  # noqa: UP017 - runs on Python 3.8, too


def test_elapsed():
    start = time.perf_counter()
    time.sleep(0.1 + jitter(0, 0.016))
    elapsed = time.perf_counter() - start
    assert elapsed < 0.11


def test_elapsed_stable():
    start = time.perf_counter()
    time.sleep(0.1 + jitter(0, 0.016))
    elapsed = time.perf_counter() - start
    assert elapsed < 60
