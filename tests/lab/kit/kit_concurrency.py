"""Concurrency: an order of two threads that is expected, a lost update, and a queue that is read too early."""

import queue
import threading
import time

from jitter import jitter


class Counter:
    def __init__(self):
        self.value = 0

    def add(self):
        seen = self.value
        time.sleep(0.01)
        self.value = seen + 1


def append(log, name):
    time.sleep(jitter(0, 0.02))
    log.append(name)


def append_both(log):
    threads = [threading.Thread(target=append, args=(log, name)) for name in ("a", "b")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def add_twice(counter):
    first = threading.Thread(target=counter.add)
    second = threading.Thread(target=counter.add)
    first.start()
    time.sleep(jitter(0, 0.02))
    second.start()
    first.join()
    second.join()


def produce(items):
    time.sleep(jitter(0, 0.02))
    items.put(1)


def test_order():
    log = []
    append_both(log)
    assert log == ["a", "b"]


def test_order_stable():
    log = []
    append_both(log)
    assert sorted(log) == ["a", "b"]


def test_counter():
    counter = Counter()
    add_twice(counter)
    assert counter.value == 2


def test_counter_stable():
    counter = Counter()
    add_twice(counter)
    assert counter.value in (1, 2)


def test_queue():
    items = queue.Queue()
    thread = threading.Thread(target=produce, args=(items,))
    thread.start()
    time.sleep(0.012)
    try:
        item = items.get_nowait()
    finally:
        thread.join()
    assert item == 1


def test_queue_stable():
    items = queue.Queue()
    thread = threading.Thread(target=produce, args=(items,))
    thread.start()
    item = items.get(timeout=30)
    thread.join()
    assert item == 1
