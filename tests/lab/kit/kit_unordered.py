"""Unordered collections: a listing, a set of texts, and a sum that depends on the order of a set."""

import os
import posix

WORDS = ("pear", "fig")
PRICES = {"pear": 0.1, "fig": 0.2, "plum": 0.3}


def names_in(folder):
    return os.listdir(folder)


def joined():
    return " ".join(set(WORDS))


def total():
    """Added one by one: `sum` makes up for rounding from Python 3.12 on."""
    amount = 0.0
    for name in set(PRICES):
        amount += PRICES[name]
    return amount


def test_listing(tmp_path):
    for name in ("a", "b", "c"):
        (tmp_path / name).touch()
    written_down = posix.listdir(tmp_path)
    assert names_in(tmp_path) == written_down


def test_listing_stable(tmp_path):
    for name in ("a", "b", "c"):
        (tmp_path / name).touch()
    assert sorted(names_in(tmp_path)) == ["a", "b", "c"]


def test_joined():
    assert joined() == "pear fig"


def test_joined_stable():
    assert sorted(joined().split()) == ["fig", "pear"]


def test_total():
    assert total() == 0.6


def test_total_stable():
    assert abs(total() - 0.6) < 1e-9
