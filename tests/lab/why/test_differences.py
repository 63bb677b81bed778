"""The comparison of runs: separations against brute force, chances, what comes first, and what it says."""

from __future__ import annotations

import random
from itertools import product
from typing import Any

import pytest
from flakeboard.differences.chances import Chances, relabellings
from flakeboard.differences.comparison import EXPLAINED, MAY_BE_CHANCE, NOT_ENOUGH, NOTHING, Comparison, compare
from flakeboard.differences.patterns import Category, Labels, Number, YesNo
from flakeboard.differences.runs import Interned, Run, run_of
from flakeboard.differences.sentences import sentence, verdict_sentence
from flakeboard.traces.trace import FAILED, PASSED, Event, Site, Token, Trace, TraceFile

# -- separations -------------------------------------------------------------------------------------------------


def by_pairs(values: dict[int, float], failing: int, runs: int) -> float:
    """Separation and interval by their definitions."""
    fails = [values[run] for run in values if failing >> run & 1]
    passes = [values[run] for run in values if not failing >> run & 1]
    failed = bin(failing).count("1")
    if len(fails) < 0.8 * failed or len(passes) < 0.8 * (runs - failed) or not fails or not passes:
        return 0.0
    signs = [(f > p) - (f < p) for f, p in product(fails, passes)]
    inside = sum(min(fails) <= p <= max(fails) for p in passes)
    return max(abs(sum(signs)) / len(signs), 1 - inside / len(passes))


def test_numbers_separate_as_by_definition() -> None:
    draw = random.Random(7)
    for _ in range(300):
        runs = draw.randint(11, 40)
        failing = sum(1 << run for run in draw.sample(range(runs), draw.randint(5, runs - 3)))
        values = {
            run: float(draw.choice((draw.randint(0, 5), draw.random()))) for run in range(runs) if draw.random() < 0.95
        }
        if values:
            expected = by_pairs(values, failing, runs)
            assert Number(values).separation(Labels(failing, runs)) == pytest.approx(expected, abs=1e-9)


def test_a_statement_separates_by_shares() -> None:
    labels = Labels(0b00111, 5)
    assert YesNo(0b00011, 0b11111).separation(labels) == pytest.approx(2 / 3)
    assert YesNo(0b00111, 0b11111).separation(labels) == 1.0
    assert YesNo(0b00001, 0b11001).separation(labels) == 0.0, "too few failing runs have it"


def test_with_few_failing_runs_only_far_durations_count() -> None:
    labels = Labels(0b1, 9)
    near = {0: 10_000.0, **{run: 9_000.0 + run for run in range(1, 9)}}
    far = {0: 30_000.0, **{run: 9_000.0 + run for run in range(1, 9)}}
    quick = {0: 900.0, **dict.fromkeys(range(1, 9), 90.0)}
    assert Number(far).separation(labels) == 0.0
    assert [Number(values, is_duration=True).separation(labels) for values in (near, far, quick)] == [0.0, 1.0, 0.0]


def test_names_that_one_run_has_alone_are_compared_with_nothing() -> None:
    labels = Labels(0b000011, 6)
    assert Category.of(dict(enumerate("aabbbb"))).separation(labels) == 1.0
    assert Category.of(dict(enumerate("abcdef"))).separation(labels) == 0.0
    assert Category.of(dict(enumerate("aabbab"))).separation(Labels(0b010101, 6)) == pytest.approx(1 / 3)


# -- chances -----------------------------------------------------------------------------------------------------


def test_all_relabellings_are_used_where_they_are_few() -> None:
    assert sorted(relabellings(0b0001, ["plain"] * 4, 1_000)) == [0b0010, 0b0100, 0b1000]


def test_labels_are_exchanged_among_runs_of_one_kind() -> None:
    kinds = ["plain", "plain", "hash", "hash"]
    assert sorted(relabellings(0b0101, kinds, 1_000)) == [0b0110, 0b1001, 0b1010]
    many = set(relabellings(0b1, ["plain"] * 10 + ["hash"] * 40, 5))
    assert all(mask < 1 << 10 for mask in many)


def test_the_chance_counts_relabellings_that_separate_as_well() -> None:
    chances = Chances([YesNo(0b0001, 0b1111)], 0b0001, ["plain"] * 4)
    assert chances.of(1.0) == 1 / 4 and chances.of(0.2) == 1.0


def test_runs_without_a_cause_are_seldom_explained(monkeypatch: pytest.MonkeyPatch) -> None:
    """Labels by coin on runs that differ by nothing but noise: a chance of at most 0.05 comes in about 5 % of them."""
    monkeypatch.setattr("flakeboard.differences.chances.RELABELLINGS", 99)
    draw, significant = random.Random(3), 0
    for _ in range(100):
        runs = 24
        patterns = [Number({run: draw.random() for run in range(runs)}) for _ in range(8)]
        failing = sum(1 << run for run in draw.sample(range(runs), 8))
        chances = Chances(patterns, failing, ["plain"] * runs)
        best = max(pattern.separation(Labels(failing, runs)) for pattern in patterns)
        significant += chances.of(best) <= 0.05
    assert 1 <= significant <= 12


# -- what comes first --------------------------------------------------------------------------------------------


def made_run(
    failed: bool, *calls: tuple[Any, ...], interned: Interned, roles: tuple[str, ...] = ("main",), **more: Any
) -> Run:
    """A run of calls (callee, value, took, role)."""
    sites: dict[Site, int] = {}
    events, clock = [], 0
    for callee, value, took, role in calls:
        site = Site("shop/cart.py", "total", callee, 1, 9)
        raised = value if isinstance(value, Token) and value.errno else None
        events.append(Event(sites.setdefault(site, len(sites)), role, None if raised else value, clock, took, raised))
        clock += took + 10
    fields = {"failed_at": clock if failed else None, "raised": "AssertionError" if failed else "", **more}
    trace = Trace("t", 1, FAILED if failed else PASSED, roles=roles, events=tuple(events), **fields)
    return run_of(TraceFile("sources", "", "", {}, list(sites), [], []), trace, interned)


def compared(failing: list[list[tuple[Any, ...]]], passing: list[list[tuple[Any, ...]]], **more: Any) -> Comparison:
    interned = Interned()
    fails = [made_run(True, *calls, interned=interned, **more) for calls in failing]
    return compare([*fails, *(made_run(False, *calls, interned=interned, **more) for calls in passing)])


def draws(*values: float) -> list[tuple[Any, ...]]:
    return [("random.randrange", value, 5, 0) for value in values]


def test_the_published_example_comes_out_first() -> None:
    """Two calls return 14, 16 in passing runs, and 21, 21 or 17, 17 or 5, 5 in failing ones."""
    found = compared([draws(n, n) for n in (21, 17, 5)] * 2, [draws(a, a + 2) for a in (14, 3, 20, 8, 17, 5)] * 3)
    first = found.differences[0]
    assert found.verdict == EXPLAINED and first.tier == 1
    assert (first.feature.what, first.feature.key[2], first.failing, first.passing) == ("same", 1, (6, 6), (0, 18))  # type: ignore[index]
    assert sentence(first) == (
        "In all 6 failing runs and none of 18 passing ones `random.randrange` (shop/cart.py:9, call 2) "
        "returned the same as the call before."
    )


def test_a_number_tells_its_ranges() -> None:
    found = compared([draws(0.9 + n / 100) for n in range(6)], [draws(n / 25) for n in range(20)])
    assert sentence(found.differences[0]) == (
        "`random.randrange` (shop/cart.py:9, call 1) was at least 0.9 in failing runs and at most 0.76 in passing ones."
    )


def test_one_failing_run_may_be_chance() -> None:
    found = compared([[("threading.Event.wait", False, 500_000, 0)]], [[("threading.Event.wait", True, 5, 0)]] * 9)
    assert found.verdict == MAY_BE_CHANCE and found.differences[0].tier == 2
    assert sentence(found.differences[0]).endswith("It may be chance: 1 failing run.")


def test_exceptions_are_told_by_type_and_errno() -> None:
    refused = Token("ConnectionRefusedError", None, "00", "ECONNREFUSED")
    found = compared([[("socket.socket.connect", refused, 5, 0)]] * 6, [[("socket.socket.connect", None, 5, 0)]] * 20)
    assert found.differences[0].category == "network"
    assert "raised" in sentence(found.differences[0])


def test_a_text_is_told_by_its_type_and_length() -> None:
    def calls(digest: str) -> list[tuple[Any, ...]]:
        return [("os.listdir", Token("list", 3, digest), 5, 0)]

    found = compared([calls("aa")] * 6, [calls("bb")] * 20)
    assert "`os.listdir` (shop/cart.py:9, call 1) returned a list of length 3 (aa)" in sentence(found.differences[0])
    assert found.differences[0].category == "unordered collections"


def test_an_order_of_roles_is_told() -> None:
    def calls(worker_first: bool) -> list[tuple[Any, ...]]:
        both = [("queue.Queue.put", None, 5, 1), ("queue.Queue.get", None, 5, 0)]
        return both if worker_first else both[::-1]

    found = compared([calls(False)] * 6, [calls(True)] * 20, roles=("main", "main/flush#1"))
    first = found.differences[0]
    assert (first.feature.what, first.category, found.verdict) == ("before", "concurrency", EXPLAINED)
    assert "ended before" in sentence(first)


def test_what_happens_after_the_failure_is_a_symptom() -> None:
    early, late = ("time.sleep", None, 5, 0), ("os.remove", None, 5, 0)
    interned = Interned()
    fails = [made_run(True, early, late, interned=interned, failed_at=10) for _ in range(6)]
    passes = [made_run(False, early, interned=interned) for _ in range(20)]
    found = compare([*fails, *passes])
    assert found.verdict == NOTHING
    assert [each.site.callee for each in found.symptoms if each.site] == ["os.remove"]
    lacking = compare(
        [
            *(made_run(True, early, interned=interned, failed_at=10) for _ in range(6)),
            *(made_run(False, early, late, interned=interned) for _ in range(20)),
        ]
    )
    assert lacking.verdict == NOTHING and lacking.symptoms


def test_too_few_runs_are_not_compared() -> None:
    found = compared([draws(1)], [draws(2)] * 2)
    assert found.verdict == NOT_ENOUGH
    assert verdict_sentence(found) == "Not enough data: 1 failing, 2 passing."


def test_equal_runs_have_no_difference() -> None:
    found = compared([draws(1)] * 6, [draws(1)] * 20)
    assert found.verdict == NOTHING and found.features == 0
    text = verdict_sentence(found, [("random", 5_000)])
    assert text == (
        "Nothing that was recorded differs before the failure. It calls random (5,000 times); "
        "try `flakeboard why --stir random`."
    )


def test_facts_of_a_pool_decide() -> None:
    interned = Interned()

    def run(failed: bool, seed: int) -> Run:
        return made_run(
            failed, *draws(1), interned=interned, facts={"hash": seed, "gc_after": failed}, recipe={"stir": "hash"}
        )

    found = compare([*(run(True, seed % 2) for seed in range(6)), *(run(False, 2 + seed % 3) for seed in range(18))])
    assert [(each.feature.detail, each.category) for each in found.differences] == [("hash", "unordered collections")]
    assert sentence(found.differences[0]).startswith("The hash seed of strings decides: of 5 values 2 occur in failing")


def test_readings_of_the_clock_are_compared_with_the_one_before() -> None:
    def calls(second: float) -> list[tuple[Any, ...]]:
        return [("time.time", 1_000_000.25, 1, 0), ("time.time", 1_000_000.25 + second, 1, 0)]

    boundary = compared([calls(0.8 + n / 100) for n in range(6)], [calls(0.1 + n / 100) for n in range(20)])
    assert "boundary" in {each.feature.what for each in boundary.differences}
    same = compared([calls(0.0)] * 6, [calls(0.01 + n / 100) for n in range(20)])
    assert same.differences[0].feature.what in ("same", "equal")
    assert same.differences[0].category == "time"
