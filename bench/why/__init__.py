"""Why tests are flaky: the kit's table, false alarms, what tracing costs, canaries, waits and fixes.

`python -m bench why` takes half an hour on a quiet machine: each of the kit's tests is run about a hundred times."""

from collections.abc import Iterable
from importlib import import_module

from bench.outcome import Outcome

PARTS = ("canaries", "alarms", "comparison", "cost", "waits", "verify", "ci_traces", "subjects", "kit")


def run() -> Iterable[Outcome]:
    for name in PARTS:
        yield from import_module(f"bench.why.{name}").run()
