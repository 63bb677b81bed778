"""Roles: threads, pool tasks and asyncio tasks are named by who started them, never by ids of the system."""

from __future__ import annotations

import threading
from pathlib import Path

from tests.lab.why.recording import load, record, run, session_of

THREADS = """
import threading, time
def work(): time.sleep(0)
def nested():
    t = threading.Thread(target=work); t.start(); t.join()
class Own(threading.Thread):
    def run(self): time.sleep(0)
def test():
    for target in (work, work, nested):
        t = threading.Thread(target=target); t.start(); t.join()
    t = Own(); t.start(); t.join()
"""


def test_threads_are_named_by_who_started_them_and_their_target(tmp_path: Path) -> None:
    recorded = record(tmp_path, THREADS)
    assert [call.role for call in recorded.of("time.sleep")] == [
        *("main/work#1", "main/work#2", "main/nested#1/work#1", "main/Own.run#1"),
    ]
    assert [call.role for call in recorded.of("end of thread")] == [
        *("main/work#1", "main/work#2", "main/nested#1/work#1", "main/nested#1", "main/Own.run#1"),
    ]


def test_pool_tasks_have_roles_of_their_own(tmp_path: Path) -> None:
    source = """
import time
from concurrent.futures import ThreadPoolExecutor
def work(n): time.sleep(0); return n
def test():
    with ThreadPoolExecutor(1) as pool:
        return [future.result() for future in [pool.submit(work, n) for n in range(3)]]
"""
    recorded = record(tmp_path, source)
    roles = ["main/work#1", "main/work#2", "main/work#3"]
    assert recorded.result == [0, 1, 2]
    for callee in ("begin of task", "time.sleep", "end of task"):
        assert [call.role for call in recorded.of(callee)] == roles


def test_asyncio_tasks_are_named_by_their_coroutine(tmp_path: Path) -> None:
    source = """
import asyncio
async def child(): await asyncio.sleep(0)
async def main():
    first = asyncio.create_task(child())
    await asyncio.gather(first, child())
    await asyncio.wait_for(child(), 5)
def test(): asyncio.run(main())
"""
    recorded = record(tmp_path, source)
    own = "main/main#1"
    assert [call.role for call in recorded.of("asyncio.sleep")] == [f"{own}/child#1", f"{own}/child#2", own]
    ends = [call.role for call in recorded.of("end of task")]
    assert ends.index(f"{own}/child#1") < ends.index(own)


def test_a_thread_that_outlives_its_test_is_no_longer_recorded(tmp_path: Path) -> None:
    source = """
import threading, time
go, gone = threading.Event(), threading.Event()
def work():
    go.wait(300); time.time(); gone.set()
def test(): threading.Thread(target=work).start()
def release():
    go.set(); gone.wait(300)
"""
    with session_of(tmp_path) as session:
        module = load(tmp_path, source)
        run(session, module.test, "first")
        run(session, module.release, "second")
        for thread in threading.enumerate():
            if thread is not threading.current_thread() and not thread.daemon:
                thread.join(300)
    text = Path(session.path).read_text()
    assert '"threads_left":1' in text
    assert "time.time" not in text and "threading.Event.wait" in text


def test_ids_of_the_system_appear_nowhere(tmp_path: Path) -> None:
    recorded = record(tmp_path, THREADS)
    assert str(threading.get_ident()).encode() not in recorded.content
