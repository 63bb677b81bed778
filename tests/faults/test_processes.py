"""Killed at any point, nothing that was accepted is lost or counted twice."""

import os
import shutil
import signal
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from itertools import count, takewhile
from random import Random

import psutil
import pytest

from tests.extent import WHOLE, repeats
from tests.faults.server import BUSY, NEVER, Server, assert_each_counted_once, running, send_all, sending, suite, until

pytestmark = pytest.mark.processes
PAUSE = 0.2
"""Seconds between two uploads, so that what waits when all is over is done in time on a busy machine."""
MASTER, CHILD = True, False
KILLS = int(os.environ.get("KILLS", repeats(4, 10)))
"""`make kills` asks for fifty."""
PLAN = {
    ("gunicorn", CHILD): max(1, KILLS * 4 // 10),
    ("gunicorn", MASTER): max(1, KILLS // 10),
    ("celery worker", CHILD): max(1, KILLS * 4 // 10),
    ("celery worker", MASTER): max(1, KILLS // 10),
}
"""What is killed, and how often. A master that ended is started again after a pause, which doubles."""


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """One server for all tests: each adds to `accepted`, and all of it must hold."""
    analyses = "1" if WHOLE or KILLS > 10 else NEVER
    with running(tmp_path_factory.mktemp("home"), UPLOAD_SECONDS="20", ANALYSIS_DELAY_SECONDS=analyses) as started:
        yield started


# -- kill -9 of web and worker at random points, while a CI system sends and retries ------------------------------


def rounds(random: Random) -> Iterator[tuple[str, bool]]:
    planned = [kind for kind, times in PLAN.items() for _ in range(times)]
    yield from random.sample(planned, len(planned))


def living(server: Server, program: str, master: bool) -> list[psutil.Process]:
    """Processes of a program that the supervisor started itself, or that those have started."""
    assert server.process is not None
    found = []
    for process in server.children(*program.split()):
        with suppress(psutil.NoSuchProcess):
            if (process.ppid() == server.process.pid) == master:
                found.append(process)
    return found


def kill_one(server: Server, random: Random, program: str, master: bool) -> None:
    """In the middle of load: an upload was taken since the last one was killed, and a moment has passed."""
    before = len(server.accepted)
    until(lambda: len(server.accepted) > before, 60, "an upload is taken")
    time.sleep(random.uniform(0, 0.5))
    random.choice(until(lambda: living(server, program, master), 60, f"{program} runs")).kill()


def kill_at_work(server: Server) -> None:
    """All workers, at a moment when one of them has an upload in its hands."""
    until(lambda: "processing" in server.states(), 60, "an upload is being processed")
    for worker in living(server, "celery worker", CHILD):
        worker.kill()


def was_hit(server: Server, last: int) -> bool:
    """Whether a kill met an upload that was being processed, of those after the last one."""
    return bool(server.query(f"SELECT 1 FROM ingest_upload WHERE id > {last} AND tries >= 2"))


def test_killed_at_random_nothing_is_lost_or_counted_twice(server: Server) -> None:
    random, enough = Random(KILLS), threading.Event()
    before, last = len(server.accepted), max(server.accepted.values(), default=0)
    sender = sending(server, takewhile(lambda _: not enough.wait(PAUSE), count(101)))
    try:
        for program, master in rounds(random):
            kill_one(server, random, program, master)
        for _ in takewhile(lambda _: not was_hit(server, last), range(20)):
            kill_at_work(server)
    finally:
        enough.set()
        sender.join()
    assert_each_counted_once(server, server.accepted)
    assert len(server.accepted) - before >= KILLS
    assert was_hit(server, last), "no upload was hit: it is too gentle"


# -- one part after the other -------------------------------------------------------------------------------------


def test_a_web_process_killed_in_the_middle_of_a_body_stores_no_half(server: Server) -> None:
    until(server.answers, 30, "web is back")
    content = suite(20)
    head = (
        f"POST /api/v1/projects/my-project/uploads?build_id=20 HTTP/1.1\r\nHost: localhost\r\n"
        f"Authorization: Bearer {server.token}\r\nContent-Type: application/xml\r\nContent-Length: {len(content)}\r\n\r\n"
    )
    with socket.create_connection(("127.0.0.1", server.port)) as half:
        half.sendall(head.encode() + content[: len(content) // 2])
        time.sleep(0.3)
        for web in living(server, "gunicorn", CHILD):  # those that read bodies; their master has new ones at once
            web.kill()
    until(server.answers, 30, "web is back")
    assert sum(server.states().values()) == len(server.accepted)
    send_all(server, range(20, 21))
    assert_each_counted_once(server, server.accepted)


def test_a_killed_database_loses_nothing(server: Server) -> None:
    sender = sending(server, range(31, 39))
    for _ in range(2):
        time.sleep(0.4)
        until(lambda: server.kill("bin/postgres", "-D"), 20, "the database is killed")
        until(lambda: server.states(), 30, "the database is back")
    sender.join()
    assert_each_counted_once(server, server.accepted)


def test_a_database_that_is_stopped_and_started_loses_nothing(server: Server) -> None:
    sender = sending(server, range(41, 45))
    postmaster = server.children("bin/postgres", "-D")[0]
    postmaster.send_signal(signal.SIGINT)
    until(lambda: not postmaster.is_running() and server.states(), 30, "the database was stopped and is back")
    sender.join()
    assert_each_counted_once(server, server.accepted)


def send_and_lose_the_messages(server: Server, builds: range) -> None:
    """Accepted uploads that only the sweep can find: their messages are gone before a worker reads them."""
    workers = server.children("celery", "worker")
    for worker in workers:
        worker.suspend()
    send_all(server, builds)
    assert server.states()["received"] == len(builds)
    for message in (server.home / "broker").glob("*.msg"):
        message.unlink()
    for worker in workers:
        worker.resume()


def test_lost_broker_files_only_cost_time(server: Server) -> None:
    send_and_lose_the_messages(server, range(51, 55))
    assert_each_counted_once(server, server.accepted)


def test_a_broker_folder_that_is_gone_is_no_reason_to_refuse(server: Server) -> None:
    gone = (server.home / "broker").rename(server.home / "gone")  # at once: workers take messages all the while
    shutil.rmtree(gone)
    send_all(server, range(61, 63))
    assert_each_counted_once(server, server.accepted)


@pytest.fixture(scope="module")
def after_a_kill(server: Server) -> Server:
    """The same server after kill -9 of its supervisor, and with what a power cut may leave in its home."""
    kill_supervisor(server)
    (server.home / "beat.pid").write_text("1\n")
    (server.home / "beat-schedule").write_bytes(b"half a file")
    (server.home / "broker" / "1_x.celery.half").write_text("{")
    server.start()
    return server


def kill_supervisor(server: Server) -> None:
    """With no chance to stop anything: the kernel ends its children, and the database goes on."""
    assert server.process is not None
    family = [child for child in server.children() if child not in server.children("postgres")]
    server.process.kill()
    server.process.wait()
    _, alive = psutil.wait_procs(family, timeout=30 * BUSY)
    assert alive == []


def postmaster(server: Server) -> psutil.Process:
    return psutil.Process(int((server.home / "postgres" / "postmaster.pid").read_text().split()[0]))


def test_stale_files_of_beat_do_not_stop_the_sweep(after_a_kill: Server) -> None:
    assert not (after_a_kill.home / "broker" / "1_x.celery.half").exists()
    send_and_lose_the_messages(after_a_kill, range(71, 73))
    assert_each_counted_once(after_a_kill, after_a_kill.accepted)


def test_a_database_that_was_taken_over_is_started_again_when_it_is_killed(after_a_kill: Server) -> None:
    if postmaster(after_a_kill) in after_a_kill.children():  # a test in between has made the server start it itself
        kill_supervisor(after_a_kill)
        after_a_kill.start()
    adopted = postmaster(after_a_kill)
    assert adopted not in after_a_kill.children(), "the database was not taken over: the test tests nothing"
    sender = sending(after_a_kill, range(81, 83))
    adopted.kill()
    until(lambda: after_a_kill.states() and after_a_kill.children("bin/postgres", "-D"), 60, "the database is back")
    sender.join()
    assert_each_counted_once(after_a_kill, after_a_kill.accepted)


def test_stopping_leaves_no_process_and_starting_again_loses_nothing(server: Server) -> None:
    family = server.children()
    assert len(family) > 8
    server.stop()
    _, alive = psutil.wait_procs(family, timeout=30 * BUSY)
    assert alive == []
    server.start()
    send_all(server, range(91, 92))
    assert_each_counted_once(server, server.accepted)
