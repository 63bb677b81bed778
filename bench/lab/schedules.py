"""Schedules: enhanced against a slow twin, order-dependent failures of the published algorithms, and their speed."""

import time
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from random import Random

import numpy as np
from flakeboard.orders import partition, priorities
from flakeboard.orders.dependencies import Dependency, negative, positive
from flakeboard.orders.enhance import enhance
from flakeboard.orders.outcomes import fails

from analytics.simulation.dependent_suites import SIZES, DependentSuite, draw_suite
from bench.outcome import Outcome
from tests.lab.orders.twins import enhanced_slowly, faults, simple_schedule, wild_schedule

CASES = 100_000
SEEDS = 5
CHANGES = 10
SHARDS = (2, 4, 8, 16)
KNOWN = (1.0, 0.8)
MANY = 50_000
TIMES = 20


def run() -> Iterable[Outcome]:
    yield from _against_twin(CASES)
    yield from _failures(SEEDS)
    yield from _regressions()
    yield from _speed()


def _against_twin(cases: int) -> Iterator[Outcome]:
    different = faulty = cycles = 0
    for number in range(cases // 2):
        simple = simple_schedule(Random(f"simple {number}"))
        made = enhance(*simple)
        different += made.order != enhanced_slowly(simple)
        faulty += bool(faults(simple, made))
        wild = wild_schedule(Random(f"wild {number}"))
        made = enhance(*wild)
        faulty += bool(faults(wild, made))
        cycles += any("cycle" in each.reason for each in made.left_out)
    yield Outcome(f"enhanced schedules that differ from the slow twin, of {cases // 2:,}", different, most=0)
    yield Outcome(f"enhanced schedules without a promised property, of {cases:,}", faulty, most=0)
    yield Outcome("of them with a cycle that cost a dependency", cycles, least=1)


# -- failures in simulated suites --------------------------------------------------------------------------------


def schedules_of(suite: DependentSuite, rng: np.random.Generator) -> Iterator[tuple[str, list[int]]]:
    """Every schedule of the twelve algorithms, by label: one of each for orders, one a change for selections, one a
    shard for splits."""
    tests = range(len(suite.seconds))
    yield "T1", priorities.total(suite.statements)
    yield "T2", priorities.additional(suite.statements)
    yield "T3", priorities.total(suite.functions)
    yield "T4", priorities.additional(suite.functions)
    for _ in range(CHANGES):
        functions = rng.choice(len(suite.statements_of), rng.integers(1, 4), replace=False)
        changes = (
            ("S1", "S2", "S3", suite.statements, sum(_part(suite.statements_of[each], rng) for each in functions)),
            ("S4", "S5", "S6", suite.functions, sum(1 << int(each) for each in functions)),
        )
        for plain, by_total, by_additional, coverage, changed in changes:
            chosen = [test for test in tests if coverage[test] & changed]
            covered = [coverage[test] for test in chosen]
            yield plain, chosen
            yield by_total, [chosen[place] for place in priorities.total(covered)]
            yield by_additional, [chosen[place] for place in priorities.additional(covered)]
    for total in SHARDS:
        yield from (("P1", shard) for shard in partition.by_position(len(tests), total))
        yield from (("P2", shard) for shard in partition.by_time(suite.seconds, total))


def _part(statements: int, rng: np.random.Generator) -> int:
    """A single statement of a function."""
    places = [place for place in range(statements.bit_length()) if statements >> place & 1]
    return 1 << int(rng.choice(places))


def counted_failures(seeds: int) -> tuple[Counter[str], dict[float, Counter[str]], float]:
    """Order-dependent failures by label, as scheduled and enhanced by a share of the dependencies; and how many times
    the seconds the latter take with all of them."""
    plain: Counter[str] = Counter()
    enhanced: dict[float, Counter[str]] = {known: Counter() for known in KNOWN}
    before = after = 0.0
    for seed in range(seeds):
        rng = np.random.default_rng(seed)
        for size, dependents in SIZES:
            suite = draw_suite(size, dependents, rng)
            every = suite.dependencies()
            known_by_share = {known: [each for each in every if rng.random() < known] for known in KNOWN}
            for label, schedule in schedules_of(suite, rng):
                plain[label] += _failing(suite, schedule)
                for known, dependencies in known_by_share.items():
                    order = enhance(schedule, dependencies, range(size), suite.seconds).order
                    enhanced[known][label] += _failing(suite, order)
                    if known == 1.0:
                        before += sum(suite.seconds[test] for test in schedule)
                        after += sum(suite.seconds[test] for test in order)
    return plain, enhanced, after / before


def _failing(suite: DependentSuite, order: Sequence[int]) -> int:
    return sum(fails(order, dependent) for dependent in suite.dependents)


def _failures(seeds: int) -> Iterator[Outcome]:
    plain, enhanced, slower = counted_failures(seeds)
    for label in sorted(plain):
        yield Outcome(f"{label}: failures as scheduled", plain[label])
    for label in sorted(plain):
        yield Outcome(f"{label}: failures with all dependencies known", enhanced[1.0][label], most=0)
    fewer = 1 - enhanced[0.8].total() / plain.total()
    yield Outcome("fewer failures with 80 % of them known", fewer, least=0.7)
    yield Outcome("seconds, times those without enhancement", slower, most=1.03)
    for label, other in (("S2", "S1"), ("S3", "S1"), ("P2", "P1")):
        yield Outcome(f"{label} fails more often than {other}, by", plain[label] - plain[other], least=1)


# -- priorities by regressions -----------------------------------------------------------------------------------


def _regressions(tests: int = 1_000, builds: int = 200) -> Iterator[Outcome]:
    """A few fragile tests find most regressions; flaky ones fail often and find none."""
    rng = np.random.default_rng(0)
    fragile, flaky = rng.choice(tests, 60, replace=False), rng.choice(tests, 30, replace=False)
    chance = np.full(tests, 0.0002)
    chance[fragile] = rng.uniform(0.005, 0.05, len(fragile))
    seconds = rng.lognormal(-1.5, 1.2, tests)
    history = (rng.random((builds, tests)) < chance).sum(axis=0)
    failures = history + np.where(np.isin(np.arange(tests), flaky), builds // 2, 0)
    records = [priorities.Record(int(found), builds, float(each)) for found, each in zip(history, seconds, strict=True)]
    orders = {
        "by regressions": priorities.by_failures(records),
        "original": list(range(tests)),
        "by plain failures": sorted(range(tests), key=lambda test: (-failures[test] / seconds[test], test)),
    }
    later = [np.flatnonzero(row) for row in rng.random((builds, tests)) < chance]
    scores = {name: _scores(order, later, seconds) for name, order in orders.items()}
    (apfd, first), (original, original_first) = scores["by regressions"], scores["original"]
    yield Outcome("APFD by regressions", apfd, least=original)
    yield Outcome("APFD in original order", original)
    yield Outcome("APFD by plain failures", scores["by plain failures"][0])
    yield Outcome("seconds to the first real failure by regressions", first, "s", most=original_first)
    yield Outcome("seconds to the first real failure in original order", original_first, "s")


def _scores(order: Sequence[int], builds: Sequence[np.ndarray], seconds: np.ndarray) -> tuple[float, float]:
    """Means over the builds that fail: APFD with each failing test a fault of its own, and seconds to the first."""
    place = np.empty(len(order), dtype=int)
    place[list(order)] = np.arange(1, len(order) + 1)
    ends = np.cumsum(seconds[list(order)])
    failing = [np.sort(place[tests]) for tests in builds if len(tests)]
    apfd = [1 - places.sum() / (len(order) * len(places)) + 1 / (2 * len(order)) for places in failing]
    return float(np.mean(apfd)), float(np.mean([ends[places[0] - 1] for places in failing]))


# -- speed -------------------------------------------------------------------------------------------------------


def _speed() -> Iterator[Outcome]:
    rng = np.random.default_rng(0)
    seconds = rng.lognormal(-1.5, 1.2, MANY).tolist()
    places = np.sort(rng.integers(0, MANY, (500, 2)), axis=1)
    pairs = [(int(first), int(second)) for first, second in places if first != second]
    known: list[Dependency] = [
        positive(first, second) if number % 5 == 0 else negative(second, first)
        for number, (first, second) in enumerate(pairs)
    ]
    records = [
        priorities.Record(int(found), 100, each) for found, each in zip(rng.poisson(0.1, MANY), seconds, strict=True)
    ]
    ways = {
        "by failures": partial(_ordered, records, known, seconds),
        "16 shards by groups": partial(_split, seconds, known),
    }
    for name, way in ways.items():
        took = []
        for _ in range(TIMES):
            began = time.process_time()
            way()
            took.append(time.process_time() - began)
        yield Outcome(f"{MANY:,} tests, {name}, p95", float(np.quantile(took, 0.95)), "s", most=1)


def _ordered(records: list[priorities.Record | None], known: list[Dependency], seconds: list[float]) -> None:
    enhance(priorities.by_failures(records), known, range(MANY), seconds)


def _split(seconds: list[float], known: list[Dependency]) -> None:
    for shard in partition.by_groups(seconds, 16, known):
        enhance(shard, known, range(MANY), seconds)
