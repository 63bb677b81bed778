"""`detect` measured: real subjects with known partners, planted suites, executors, kills, and changed tests."""

from collections.abc import Iterable

from bench.outcome import Outcome


def run() -> Iterable[Outcome]:
    from bench.detection import changed, executors, kills, planted, real

    for module in (planted, real, executors, kills, changed):
        yield from module.run()
