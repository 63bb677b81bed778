"""Chances of failing in a random order against counting every order, and squares for every size."""

import time
from collections.abc import Iterable
from unittest.mock import patch

from flakeboard.orders import probability
from flakeboard.orders.outcomes import brittle_of, victim_of
from flakeboard.orders.probability import chance_in_any_order, chance_in_random_order, chance_of_reverse
from flakeboard.orders.squares import square

from bench.outcome import Outcome
from tests.lab.orders.enumeration import LAYOUTS, counted, suites_of_relevant_tests
from tests.lab.orders.hadoop import ANY_ORDER, COMPATIBLE, REVERSE, SUITE, VICTIM

RELEVANT = 7
SEEDS = 100
FEWER = 10_000
"""Samples of each seed: whether intervals hold the truth as often as they say does not hang on their width."""


def run() -> Iterable[Outcome]:
    yield from _enumerated()
    yield from _sampled()
    yield from _squares()


def _enumerated() -> Iterable[Outcome]:
    judged = wrong = 0
    for layout in LAYOUTS:
        for suite, partners, cleaners in suites_of_relevant_tests(RELEVANT, layout):
            dependents = [victim_of(0, partners, cleaners)] if partners else []
            dependents += [] if cleaners else [brittle_of(0, partners)]
            for dependent in dependents:
                chance, reverse = chance_in_random_order(suite, dependent), chance_of_reverse(suite, dependent)
                judged += 1
                wrong += (chance.value, reverse and reverse.value) != counted(suite, dependent)
    yield Outcome(f"cases of up to {RELEVANT} relevant tests in 3 classes and 3 levels", judged, aim="all")
    yield Outcome("of them whose fractions differ from counting every order", wrong, most=0)


def _sampled() -> Iterable[Outcome]:
    for what, truth, chance in (
        ("compatible orders", COMPATIBLE, chance_in_random_order(SUITE, VICTIM)),
        ("any order", ANY_ORDER, chance_in_any_order(VICTIM)),
        ("reverse after a pass", REVERSE, chance_of_reverse(SUITE, VICTIM)),
    ):
        assert chance is not None
        off = abs(float(chance.value) - truth) * 100
        yield Outcome(f"Hadoop, {what}: off the exact value by", off, "points", most=0.2)
    with patch.object(probability, "SAMPLES", FEWER):
        chances = [chance_in_random_order(SUITE, VICTIM, str(seed)) for seed in range(SEEDS)]
    intervals = [chance.interval for chance in chances if chance.interval is not None]
    inside = sum(low <= COMPATIBLE <= high for low, high in intervals)
    yield Outcome(f"Hadoop: samples whose interval holds the exact value, of {SEEDS}", inside, least=95)


def _squares() -> Iterable[Outcome]:
    wrong = 0
    for n in range(2, 301):
        rows = square(n)
        pairs = [pair for row in rows for pair in zip(row, row[1:], strict=False)]
        once = len(pairs) == n * (n - 1) or n in (3, 5)
        wrong += not (len(rows) == n + (n in (3, 5)) and len(set(pairs)) == n * (n - 1) and once)
    yield Outcome("squares of 2 to 300 that miss or repeat a pair", wrong, most=0)
    began = time.process_time()
    square(300)
    yield Outcome("square of 300", time.process_time() - began, "s", most=0.1)
