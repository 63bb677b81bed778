"""Which flaky tests fail together, and which with the same words. Imports nothing of the product."""

import math
import re
from collections import defaultdict
from itertools import combinations
from typing import Any

from tests.truth.histories import History

Table = dict[str, Any]


def related_pairs(flaky: dict[str, list[int]], runs: int) -> dict[frozenset[str], float]:
    """Pairs that fail together more than chance has it (hypergeometric, Benjamini-Hochberg at 5 % over all pairs)."""
    p_values = {}
    for first, second in combinations(sorted(flaky), 2):
        one, other = set(flaky[first]), set(flaky[second])
        p_values[frozenset((first, second))] = _tail(runs, len(one), len(other), len(one & other))
    ordered = sorted(p_values.values())
    limit = max((p for rank, p in enumerate(ordered, 1) if p <= 0.05 * rank / len(ordered)), default=-1.0)
    return {pair: p for pair, p in p_values.items() if p <= limit}


def _tail(runs: int, one: int, other: int, together: int) -> float:
    ways = (math.comb(one, both) * math.comb(runs - one, other - both) for both in range(together, min(one, other) + 1))
    return sum(ways) / math.comb(runs, other)


def clusters(flaky: dict[str, list[int]], related: dict[frozenset[str], float]) -> Table:
    """Tests that fail in the very same runs are one cluster. Other related pairs may be joined to it or not."""
    groups: dict[tuple[int, ...], list[str]] = defaultdict(list)
    for test, places in flaky.items():
        groups[tuple(places)].append(test)
    certain = [
        sorted(tests)
        for tests in groups.values()
        if len(tests) > 1 and all(frozenset(pair) in related for pair in combinations(tests, 2))
    ]
    whole = {test: number for number, tests in enumerate(certain) for test in tests}
    loose = sorted(sorted(pair) for pair in related if len({whole.get(test, test) for test in pair}) > 1)
    return {
        "clusters": sorted(certain, key=lambda tests: (-len(tests), tests)),
        "may be related": [
            {"tests": pair, "together": len(set(flaky[pair[0]]) & set(flaky[pair[1]])), "why": _LOOSE} for pair in loose
        ],
    }


_LOOSE = "more common runs than chance has, but in few long bursts: one coincidence of two bursts counts as many"


def clusters_by_words(history: History, flaky: dict[str, list[int]]) -> list[list[str]]:
    """Flaky tests whose failures say the same; failures without words say nothing."""
    groups: dict[str, set[str]] = defaultdict(set)
    for test, places in flaky.items():
        for place in places:
            if text := history.words.get((test, place), "").strip():
                groups[re.sub(r"\d+", "#", text)].add(test)
    return sorted(sorted(tests) for tests in groups.values() if len(tests) > 1)
