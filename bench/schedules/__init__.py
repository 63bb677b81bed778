"""Schedules measured: splits that sixteen shards ask for at once, schedules of large suites, the next order, and
selections judged by mutants."""

from collections.abc import Iterable

from bench.outcome import Outcome


def run() -> Iterable[Outcome]:
    from bench.schedules import mutants, speed, splits

    for module in (speed, splits, mutants):
        yield from module.run()
