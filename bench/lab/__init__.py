"""Orders measured: formulas, squares, plans, real order-dependent tests, schedules, and verdicts of reruns."""

from collections.abc import Iterable

from bench.outcome import Outcome


def run() -> Iterable[Outcome]:
    from bench.lab import formulas, plans, real_tests, reruns, schedules

    for module in (formulas, plans, real_tests, schedules, reruns):
        yield from module.run()
