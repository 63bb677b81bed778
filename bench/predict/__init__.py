"""Predictions of flaky tests, beside FLAST as published, on tests of public projects."""

from collections.abc import Iterable
from importlib import import_module

from bench.outcome import Outcome

PARTS = ("published", "protocol_scores", "earned_words", "speed", "analysis")


def run() -> Iterable[Outcome]:
    for name in PARTS:
        yield from import_module(f"bench.predict.{name}").run()
