"""Planted suites, simulated: what is found in the first order, by pairs, and what is wrongly called order-dependent."""

import math
import os
import random
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from flakeboard.detection import reference
from flakeboard.detection.findings import OD, VICTIM, Finding
from flakeboard.detection.journal import Journal
from flakeboard.detection.laboratory import Laboratory
from flakeboard.detection.parameters import Parameters
from flakeboard.detection.procedure import Procedure
from flakeboard.detection.search.ddmin import ddmin
from flakeboard.detection.search.dependencies import find_dependencies
from flakeboard.detection.search.partners import PartnerSearch
from flakeboard.detection.search.suspects import Suspects

from bench.outcome import Outcome
from tests.lab.detect.worlds import Simulated, World, suite

SEEDS = int(os.environ.get("SEEDS", "100"))
RATES = (0.5, 0.2, 0.05, 0.01)


@dataclass(frozen=True, slots=True)
class Shape:
    """How large a planted suite is, and how many order-dependent tests of each sort it has."""

    files: int = 15
    each: int = 8
    brittles: int = 3
    plain: int = 3
    """Victims of one polluter, without a cleaner."""
    cleaned: int = 6
    groups: int = 2
    rates: tuple[float, ...] = RATES


def world_of(seed: int, shape: Shape = Shape()) -> tuple[World, set[str], set[str]]:  # noqa: B008 - it is frozen
    """A suite whose original order passes; those without a cleaner, and all with a single partner."""
    source = random.Random(seed)
    world = World(suite(shape.files, shape.each))
    names = iter(source.sample(range(len(world.tests)), len(world.tests)))

    def drawn(count: int) -> list[str]:
        """Tests in their original order, none of them twice."""
        return [world.tests[place] for place in sorted(next(names) for _ in range(count))]

    for _ in range(shape.brittles):
        setter, brittle = drawn(2)
        world.brittles[brittle] = [setter]
    for _ in range(shape.plain):
        world.victim(*drawn(2))
    plain = {*world.brittles, *world.victims}
    for _ in range(shape.cleaned):
        world.victim(*drawn(2), cleaners=drawn(1))
    single = {*world.brittles, *world.victims}
    for _ in range(shape.groups):
        victim, *group = drawn(3)
        source.shuffle(group)
        world.victims[victim] = [(group, [])]
    world.rates = {drawn(1)[0]: rate for rate in shape.rates}
    return world, plain, single


@contextmanager
def laboratory(world: World, seed: int = 0) -> Iterator[Laboratory]:
    with tempfile.TemporaryDirectory() as folder:
        executor = Simulated(world, seed)
        yield Laboratory(world.tests, Journal.create(f"{folder}/journal", {}, executor.clock), executor)


def detected(world: World, seed: int, **parameters: object) -> Procedure:
    with laboratory(world, seed) as lab:
        chosen = Parameters(seed=str(seed), without_failing=True, budget=1e6, **parameters)  # type: ignore[arg-type]
        found = reference.establish(lab, chosen.tries, True, lambda line: None, 1e9)
        procedure = Procedure(lab, chosen, found, lambda line: None)
        procedure.run_rounds()
        find_dependencies(procedure, Suspects(None, lab.journal))
        return procedure


def run() -> Iterable[Outcome]:
    in_first = by_pairs = stable = 0
    wrong: Counter[float] = Counter()
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
            wrong.update(rate for test, rate in world.rates.items() if test in called)
    runs = 2 * SEEDS
    yield Outcome(
        "suites whose order-dependent tests without cleaner are all found in order 1", in_first / SEEDS, least=1
    )
    yield Outcome("suites whose twelve single-partner tests are all found by pairs", by_pairs / SEEDS, least=1)
    yield Outcome("stable tests reported", stable, most=0)
    for rate in RATES:
        what = f"a test that fails in {rate:.0%} of its runs is called order-dependent, of a hundred experiments"
        yield Outcome(what, 100 * wrong[rate] / runs, most=1)
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
    world = World(suite(50, 10))
    with laboratory(world.victim(world.tests[3], world.tests[470])) as lab:
        finding = Finding(3, OD, tuple(range(499, 2, -1)), role=VICTIM)
        PartnerSearch(lab, finding, ()).first([470, 12])
        right = [group.tests for group in finding.groups] == [(470,)]
        yield Outcome(
            "probes where the first suspect is right", len(lab.journal.entries) if right else math.inf, most=1
        )
