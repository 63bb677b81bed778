"""Bounds of random tests: whether they keep their promise, beside the published method, on values whose truth is known.

`python -m bench bounds` takes about fifteen minutes."""

from collections.abc import Iterable

from bench.bounds import formulas, intervals, promises, published, whole_way
from bench.outcome import Outcome


def run() -> Iterable[Outcome]:
    yield from formulas.run()
    yield from promises.run()
    yield from intervals.run()
    yield from published.run()
    yield from whole_way.run()
