"""Randomness: a draw that decides, a mean of many draws, and two draws that collide."""

import random


def is_discounted():
    return random.random() > 0.8


def mean_of(count):
    return sum(random.gauss(0, 1) for _ in range(count)) / count


def new_id():
    return random.randrange(16)


def test_price():
    assert not is_discounted()


def test_price_stable():
    assert is_discounted() in (True, False)


def test_mean():
    assert abs(mean_of(200)) < 0.1


def test_mean_stable():
    assert abs(mean_of(200)) < 1


def test_ids():
    first = new_id()
    second = new_id()
    assert first != second


def test_ids_stable():
    first = new_id()
    second = new_id()
    assert first in range(16) and second in range(16)
