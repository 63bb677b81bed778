"""Resource leaks: descriptors that pass a bound, and an object that lives until the garbage collector comes."""

import os
import weakref

from jitter import jitter


def open_descriptors():
    return len(os.listdir("/proc/self/fd"))


_usual = open_descriptors()
_leaked = [os.open(os.devnull, os.O_RDONLY) for _ in range(int(jitter(0, 10)))]


class Node:
    def __init__(self):
        self.itself = self


_kept = []


def make_garbage():
    _kept.extend([number] for number in range(int(jitter(0, 2_000))))


def test_descriptors():
    assert open_descriptors() - _usual < 7


def test_descriptors_stable():
    assert open_descriptors() - _usual < 1_000


def test_collected():
    reference = weakref.ref(Node())
    make_garbage()
    assert reference() is None


def test_collected_stable():
    import gc

    reference = weakref.ref(Node())
    gc.collect()
    assert reference() is None
