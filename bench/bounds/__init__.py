"""Bounds of random tests: whether they keep their promise, beside the published method, on values whose truth is known.

`python -m bench bounds` takes minutes; `python -m bench bounds.promises` is a part of it."""

from collections.abc import Iterable
from importlib import import_module

from bench.outcome import Outcome

PARTS = ("formulas", "promises", "intervals", "published", "whole_way")


def run() -> Iterable[Outcome]:
    for name in PARTS:
        yield from import_module(f"bench.bounds.{name}").run()
