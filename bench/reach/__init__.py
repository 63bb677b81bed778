"""What a change touches, what is worth a rerun, where to look for unknown flaky tests, and what recording that costs.

`python -m bench reach` takes a quarter of an hour on a quiet machine; `python -m bench reach.plans` is one part."""

from collections.abc import Iterable
from importlib import import_module

from bench.outcome import Outcome

PARTS = ("plans", "rerun_sets", "cost", "touches")


def run() -> Iterable[Outcome]:
    for part in PARTS:
        yield from import_module(f"bench.reach.{part}").run()
