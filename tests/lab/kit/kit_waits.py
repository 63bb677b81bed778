"""Waits: a sleep that is too short, an event that comes too late, a task that nobody awaits, a timeout, a cold cache."""

import asyncio
import threading
import time

from jitter import jitter


class Worker:
    """Does its work in a thread, which takes 20 to 80 ms."""

    def __init__(self):
        self.done = False
        self.event = threading.Event()
        self.thread = threading.Thread(target=self.run)
        self.thread.start()

    def run(self):
        time.sleep(jitter(0.02, 0.08))
        self.done = True
        self.event.set()


async def slow():
    await asyncio.sleep(jitter(0.02, 0.08))
    return 42


_cache = {}


def load():
    time.sleep(jitter(0.02, 0.08))
    return {"rate": 7}


def rate():
    if "rates" not in _cache:
        _cache["rates"] = load()
    return _cache["rates"]["rate"]


def test_sleep():
    worker = Worker()
    time.sleep(0.05)
    done = worker.done
    worker.thread.join()
    assert done


def test_sleep_stable():
    worker = Worker()
    worker.thread.join()
    assert worker.done


def test_event():
    worker = Worker()
    came = worker.event.wait(0.05)
    worker.thread.join()
    assert came


def test_event_stable():
    worker = Worker()
    came = worker.event.wait(30)
    worker.thread.join()
    assert came


def test_task():
    results = []

    async def fill():
        await asyncio.sleep(jitter(0, 0.02))
        results.append(1)

    async def main():
        task = asyncio.create_task(fill())
        await asyncio.sleep(0.012)
        filled = bool(results)
        await task
        return filled

    assert asyncio.run(main())


def test_task_stable():
    results = []

    async def fill():
        await asyncio.sleep(jitter(0, 0.02))
        results.append(1)

    async def main():
        await asyncio.create_task(fill())
        return bool(results)

    assert asyncio.run(main())


def test_timeout():
    async def main():
        return await asyncio.wait_for(slow(), 0.06)

    assert asyncio.run(main()) == 42


def test_timeout_stable():
    async def main():
        return await asyncio.wait_for(slow(), 30)

    assert asyncio.run(main()) == 42


def test_cold_cache():
    start = time.perf_counter()
    rate()
    assert time.perf_counter() - start < 0.06


def test_cold_cache_stable():
    rate()
    start = time.perf_counter()
    rate()
    assert time.perf_counter() - start < 30
