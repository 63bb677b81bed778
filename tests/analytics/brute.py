"""The slow twins: the same numbers by loops that anybody can check."""

from itertools import combinations
from math import comb

FAILING = (1, 2)


def counts(outcomes: list[int]) -> tuple[int, int]:
    """failed, executed."""
    return sum(outcome in FAILING for outcome in outcomes), sum(outcome in (0, 1, 2) for outcome in outcomes)


def burst_lengths(outcomes: list[int], streams: list[int]) -> list[int]:
    found = []
    for stream in sorted(set(streams)):
        running = 0
        for outcome, where in zip(outcomes, streams, strict=True):
            if where != stream or outcome in (3, -1):
                continue
            if outcome in FAILING:
                running += 1
                continue
            if running:
                found.append(running)
            running = 0
        if running:
            found.append(running)
    return found


def transitions(outcomes: list[int], streams: list[int], revisions: list[int]) -> dict[tuple[bool, bool], int]:
    """(failed before, fails now) -> how often, within one stream; after a failure at one revision alone."""
    seen = {(before, now): 0 for before in (True, False) for now in (True, False)}
    for stream in set(streams):
        previous = None
        for outcome, where, revision in zip(outcomes, streams, revisions, strict=True):
            if where != stream or outcome in (3, -1):
                continue
            now = outcome in FAILING
            if previous is not None and (previous[1] == revision or not previous[0]):
                seen[previous[0], now] += 1
            previous = (outcome in FAILING, revision)
    return seen


def reruns_to_get_past(q: float, confidence: float) -> int:
    """The least n with q^n <= 1 - C, q being known: ceil(log(1 - C) / log q) in FLEX and Gruber."""
    n = 1
    while q**n > 1 - confidence + 1e-12:
        n += 1
    return n


def hypergeometric_tail(runs: int, first: int, second: int, together: int) -> float:
    """P(at least `together` common runs) of two tests that failed in `first` and `second` of `runs` runs."""
    ways = sum(comb(first, k) * comb(runs - first, second - k) for k in range(together, min(first, second) + 1))
    return ways / comb(runs, second)


def benjamini_hochberg(p_values: list[float], hypotheses: int, level: float) -> set[int]:
    ranked = sorted(range(len(p_values)), key=lambda i: p_values[i])
    last = max((rank for rank, i in enumerate(ranked, 1) if p_values[i] <= level * rank / hypotheses), default=0)
    return set(ranked[:last])


def common_runs(failing_runs: list[set[int]]) -> dict[tuple[int, int], int]:
    pairs = combinations(range(len(failing_runs)), 2)
    return {(i, j): len(failing_runs[i] & failing_runs[j]) for i, j in pairs if failing_runs[i] & failing_runs[j]}
