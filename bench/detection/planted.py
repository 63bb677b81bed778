"""Planted suites, simulated: what is found in the first order, by pairs, and what is wrongly called order-dependent."""

import math
import random
import tempfile
from collections.abc import Iterable
from pathlib import Path

from flakeboard.detection import reference
from flakeboard.detection.findings import OD
from flakeboard.detection.journal import Journal
from flakeboard.detection.laboratory import Laboratory
from flakeboard.detection.parameters import Parameters
from flakeboard.detection.procedure import Procedure
from flakeboard.detection.search.ddmin import ddmin
from flakeboard.detection.search.dependencies import find_dependencies
from flakeboard.detection.search.suspects import Suspects

from bench.outcome import Outcome
from tests.lab.detect.worlds import Simulated, World, suite

SEEDS = 100
RATES = (0.5, 0.2, 0.05, 0.01)


def world_of(seed: int) -> tuple[World, set[str], set[str]]:
    """120 tests in 15 files; twelve order-dependent ones, six with cleaners, two groups, four that fail at random.

    The original order passes. Returns the world, those without a cleaner, and all twelve."""
    source = random.Random(seed)
    tests = suite(15, 8)
    places = source.sample(range(len(tests)), 60)
    pairs = [sorted(places[at : at + 2]) for at in range(0, 24, 2)]
    cleaning = iter(places[24:36])
    world = World(tests)
    plain, all_of_them = set(), set()
    for number, (early, late) in enumerate(pairs):
        if number < 3:
            world.brittles[tests[late]] = [tests[early]]
            dependent = tests[late]
        else:
            cleaners = [tests[next(cleaning)]] if number >= 6 else []
            world.victim(tests[early], tests[late], cleaners=cleaners)
            dependent = tests[early]
        all_of_them.add(dependent)
        if number < 6:
            plain.add(dependent)
    for at in (36, 39):
        early, *group = sorted(places[at : at + 3])
        source.shuffle(group)
        world.victims[tests[early]] = [([tests[place] for place in group], [])]
    world.rates = {tests[place]: rate for place, rate in zip(places[50:], RATES, strict=False)}
    return world, plain, all_of_them


def detected(world: World, seed: int, **parameters: object) -> Procedure:
    with tempfile.TemporaryDirectory() as folder:
        executor = Simulated(world, seed)
        journal = Journal.create(str(Path(folder) / "journal"), {}, executor.clock)
        lab = Laboratory(world.tests, journal, executor)
        chosen = Parameters(seed=str(seed), without_failing=True, budget=1e6, **parameters)  # type: ignore[arg-type]
        found = reference.establish(lab, chosen.tries, True, lambda line: None, 1e9)
        procedure = Procedure(lab, chosen, found, lambda line: None)
        procedure.run_rounds()
        find_dependencies(procedure, Suspects(None, journal))
        return procedure


def run() -> Iterable[Outcome]:
    in_first = by_pairs = stable = wrong = 0
    for seed in range(SEEDS):
        world, plain, all_of_them = world_of(seed)
        dependent = all_of_them | set(world.victims) | set(world.brittles)
        once = _names(detected(world, seed, orders=1, minimize="no"), OD)
        whole = detected(world, seed)
        pairs = detected(world, seed, how=("pairs",), minimize="no")
        in_first += plain <= once
        by_pairs += all_of_them <= _names(pairs, OD)
        for procedure in (whole, pairs):
            called = _names(procedure, OD)
            stable += len(called - dependent - set(world.rates))
            wrong += len(called & set(world.rates))
    runs = 2 * SEEDS
    yield Outcome(
        "suites whose order-dependent tests without cleaner are all found in order 1", in_first / SEEDS, least=1
    )
    yield Outcome("suites whose twelve single-partner tests are all found by pairs", by_pairs / SEEDS, least=1)
    yield Outcome("stable tests reported", stable, most=0)
    yield Outcome("flaky tests called order-dependent, a hundred suites", 100 * wrong / (runs * len(RATES)), most=1)
    yield from _probes()


def _names(procedure: Procedure, kind: str) -> set[str]:
    return {procedure.lab.suite.cases[each.test].id for each in procedure.known.values() if each.kind == kind}


def _probes() -> Iterable[Outcome]:
    """Over the bound by so many probes, at most, for a single partner among 10 to 5,000 tests."""
    worst, whole = -math.inf, 0
    for size in (10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000):
        for item in range(0, size, max(size // 25, 1)):
            probes = 0

            def keeps(part: list[int], item: int = item) -> bool:
                nonlocal probes
                probes += 1
                return item in part

            assert ddmin(range(size), keeps) == [item]
            worst = max(worst, probes - 2 * math.ceil(math.log2(size)) - 2)
    source = random.Random(1)
    for _ in range(50):
        group = sorted(source.sample(range(500), source.choice((2, 3))))
        whole += ddmin(range(500), lambda part, group=group: set(group) <= set(part)) == group
    yield Outcome("single partner: probes beyond 2 ceil(log2 m) + 2", worst, most=0)
    yield Outcome("groups of two and three found whole, of 50", whole, least=50)
