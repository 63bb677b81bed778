"""Whatever is killed in the middle of load: answered 202 = processed exactly once, and pages serve."""

import signal
import time
from contextlib import closing

import pytest

from tests.extent import repeats
from tests.faults.server import assert_each_counted_once, send_all, sending, until
from tests.server.installation import Installation

pytestmark = pytest.mark.processes
KILLED = {
    "web": ("gunicorn",),
    "worker of uploads": ("celery", "--queues uploads"),
    "worker of analyses": ("celery", "--queues analyses"),
    "beat": ("celery", "beat"),
    "redis": ("redis-server",),
}
# A row that a suspended worker holds is left as it is: nobody would ever let it go.
_AN_HOUR_LATER = """
    UPDATE ingest_upload
    SET lease_until = lease_until - interval '1 hour', received_at = received_at - interval '1 hour'
    WHERE id IN (SELECT id FROM ingest_upload WHERE state IN ('received', 'processing') FOR UPDATE SKIP LOCKED)
"""


def assert_whole(installation: Installation) -> None:
    assert_each_counted_once(installation, installation.accepted)
    until(lambda: installation.answers() and installation.ready()[1]["status"] == "ok", 30, "all parts are back")


@pytest.mark.parametrize("part", KILLED)
def test_a_killed_part_loses_nothing_and_comes_back(installation: Installation, part: str) -> None:
    first = 10 * (1 + list(KILLED).index(part))
    kills = repeats(1, 2)
    sender = sending(installation, range(first, first + 4 * kills))
    for _ in range(kills):
        time.sleep(0.5)
        until(lambda: installation.kill(*KILLED[part]), 30, f"{part} is killed")
    sender.join()
    until(lambda: installation.children(*KILLED[part]), 30, f"{part} runs again")
    assert_whole(installation)


@pytest.mark.parametrize("violence", ["stopped", "killed"])
def test_a_restarted_database_loses_nothing(installation: Installation, violence: str) -> None:
    first = 60 if violence == "stopped" else 66
    sender = sending(installation, range(first, first + repeats(4, 6)))
    process = installation.cluster._process
    assert process is not None
    process.send_signal(signal.SIGINT if violence == "stopped" else signal.SIGKILL)
    until(lambda: installation.cluster._process is not process and installation.states(), 30, "the database is back")
    sender.join()
    assert_whole(installation)


def test_a_broker_that_was_emptied_only_costs_time(installation: Installation) -> None:
    with installation.suspended("celery", "worker"):
        send_all(installation, range(72, 76))
        installation.redis().flushall()
    assert_whole(installation)


def test_a_broker_that_hangs_is_no_reason_to_refuse(installation: Installation) -> None:
    with installation.suspended("redis-server"):
        send_all(installation, range(76, 78))
        status, told = installation.ready()
        assert (status, told["status"]) == (200, "degraded")
        assert told["parts"]["broker"] == "degraded: sweep only"
        assert installation.metrics()["flakeboard_broker_up"] == 0
    assert_whole(installation)


def test_two_workers_that_race_for_one_upload_count_it_once(installation: Installation) -> None:
    with installation.suspended("celery", "worker"):
        send_all(installation, range(78, 81))
        broker = installation.redis()
        messages = [message for message in broker.lrange("uploads", 0, -1) if b"uploads.process" in message]
        assert messages, "no message waits: the test tests nothing"
        for message in messages * 5:
            broker.lpush("uploads", message)
    assert_whole(installation)


def test_a_clock_that_jumps_an_hour_ahead_counts_nothing_twice(installation: Installation) -> None:
    """Every claim is out of date at once: the same uploads are taken again while their first holders go on."""
    with closing(installation.connection()) as holder:
        with holder.cursor() as cursor:
            cursor.execute("LOCK TABLE ingest_report IN SHARE MODE")
        sender = sending(installation, range(84, 88))
        until(lambda: "processing" in installation.states(), 30, "an upload is being processed, and waits to be stored")
        with installation.suspended("celery", "--queues uploads"):
            assert installation.execute(_AN_HOUR_LATER), "no upload is waiting: the test tests nothing"
    sender.join()
    assert_whole(installation)


def test_without_the_database_it_is_not_ready_and_still_alive(installation: Installation) -> None:
    with installation.without_database():
        status, told = installation.ready()
        assert (status, told["parts"]["database"]) == (503, "unreachable")
        assert installation.request("GET", "/health/live")[0] == 200
        assert installation.metrics()["flakeboard_database_up"] == 0
    assert_whole(installation)


def test_a_long_analysis_does_not_delay_an_upload(installation: Installation) -> None:
    with installation.endless_analysis():
        send_all(installation, range(81, 82))
        until(installation.analysing, 60, "an analysis is under way, and cannot end")
        send_all(installation, range(82, 84))
        until(lambda: installation.states() == {"processed": len(installation.accepted)}, 60, "uploads go on")
        assert installation.analysing()
    assert_whole(installation)
    until(lambda: not installation.analysing(), 180, "the analysis ends when it can")
