"""Rehearsals on planted suites: what fails by the order is put right, and what cannot be is named."""

from __future__ import annotations

from typing import Any

from tests.lab.detect.worlds import Simulated, World, suite

from flakeboard.detection.execution.outcomes import Outcome  # isort: skip
from flakeboard.schedules.rehearsal import TIMES, Rehearsal  # isort: skip
from flakeboard.schedules.schedule import Schedule  # isort: skip

TESTS = suite(2, 5)


class Stage:
    """A rehearsal of one schedule, and all that it says."""

    def __init__(self, world: World, *order: int, seed: int = 0) -> None:
        self.executor = Simulated(world, seed)
        self.lines: list[str] = []
        self.schedule = Rehearsal(self.executor, TESTS, self.lines.append).rehearse(Schedule(list(order)))

    @property
    def failing(self) -> list[str]:
        """What fails when the list is run once more."""
        names = [TESTS[place] for place in self.schedule.order]
        return [names[step] for step in self.executor.run(names, 0.0).failed]


def rehearsals(stage: Stage) -> list[int]:
    """The failures of each rehearsal."""
    return [int(line.split(": ")[1].split()[0]) for line in stage.lines if line.startswith("rehearsal ")]


def test_a_victim_goes_before_its_polluter() -> None:
    stage = Stage(World(TESTS).victim(TESTS[3], TESTS[7]), *reversed(range(10)))
    assert rehearsals(stage) == [1, 0]
    assert stage.failing == []
    assert sorted(stage.schedule.order) == list(range(10))
    assert stage.schedule.notes == [f"rehearsed: {TESTS[3]} fails behind {TESTS[7]}"]
    assert stage.schedule.warnings == []


def test_a_selection_gets_the_setter_that_it_lacks() -> None:
    world = World(TESTS, brittles={TESTS[4]: [TESTS[2]]})
    stage = Stage(world, 6, 4)
    assert stage.schedule.order == [6, 2, 4]
    assert stage.schedule.notes == [f"rehearsed: {TESTS[4]} needs {TESTS[2]}"]


def test_what_a_kept_dependency_uncovers_is_put_right_next() -> None:
    """The setter that is added pollutes another test, which nothing showed before."""
    world = World(TESTS, brittles={TESTS[4]: [TESTS[2]]}).victim(TESTS[8], TESTS[2], cleaners=[TESTS[5]])
    stage = Stage(world, 4, 8)
    assert rehearsals(stage) == [1, 1, 0]
    assert stage.schedule.order == [8, 2, 4]


def test_one_search_serves_all_victims_of_a_polluter() -> None:
    world = World(TESTS)
    for victim in TESTS[:5]:
        world.victim(victim, TESTS[9])
    stage = Stage(world, *reversed(range(10)))
    assert stage.failing == []
    searches = [order for order in stage.executor.orders if order[-1] == TESTS[0] and 2 < len(order) < 10]
    assert searches == [], "for the later victims the known polluter was tried first"


def test_a_group_is_kept_whole() -> None:
    world = World(TESTS, victims={TESTS[0]: [([TESTS[3], TESTS[6]], [])]})
    stage = Stage(world, 3, 1, 6, 0)
    assert stage.failing == []
    assert stage.schedule.notes == [f"rehearsed: {TESTS[0]} fails behind {TESTS[3]} and {TESTS[6]}"]


def test_what_fails_in_the_original_order_is_no_fault_of_the_schedule() -> None:
    world = World(TESTS, rates={TESTS[5]: 1.0})
    stage = Stage(world, 5, 1)
    assert stage.schedule.order == [5, 1]
    assert f"{TESTS[5]} fails in the original order, too" in stage.lines
    assert rehearsals(stage) == [0]


def test_a_flaky_test_does_not_rearrange_the_schedule() -> None:
    """Shown three times each way: by chance that happens to one of a thousand."""
    order = [9, 8, 7, 6, 5, 4, 3, 2, 1, 0]
    for seed in range(150):
        stage = Stage(World(TESTS, rates={TESTS[0]: 0.5}), *order, seed=seed)
        assert (stage.schedule.order, stage.schedule.notes) == (order, []), seed


def test_what_no_order_mends_is_named() -> None:
    """Each of two pollutes the other, and what cleans up between them is not selected."""
    world = World(TESTS).victim(TESTS[1], TESTS[3], cleaners=[TESTS[2]]).victim(TESTS[3], TESTS[1], cleaners=[TESTS[2]])
    stage = Stage(world, 1, 3)
    assert rehearsals(stage) == [1, 1, 1, 0], "the last one does not count what was named"
    assert len(stage.failing) == 1
    assert stage.schedule.warnings == [
        f"{stage.failing[0]} failed in the rehearsal, and no order is known that mends it"
    ]


def test_after_five_rehearsals_it_says_what_still_failed() -> None:
    """A chain in which each setter that is added needs the one before it."""
    world = World(TESTS, brittles={TESTS[place]: [TESTS[place - 1]] for place in range(2, 10)})
    stage = Stage(world, 9)
    assert rehearsals(stage) == [1] * TIMES
    assert stage.schedule.order == [4, 5, 6, 7, 8, 9]
    assert stage.schedule.warnings == [f"{TESTS[5]} failed in the last of 5 rehearsals: the list may still fail"]


def test_what_a_crash_keeps_from_running_is_named() -> None:
    """It crashes wherever not all tests run, so that no order of these tests mends it."""

    class Crashing(Simulated):
        def run(self, order: Any, limit: float, **how: Any) -> Outcome:
            self.world.crashes = [TESTS[5]] if len(order) < 10 and len(order) != 5 else []
            return super().run(order, limit, **how)

    lines: list[str] = []
    schedule = Rehearsal(Crashing(World(TESTS)), TESTS, lines.append).rehearse(Schedule([5, 1, 2]))
    assert schedule.order == [5, 1, 2]
    assert schedule.warnings == [
        f"{TESTS[5]} failed in the rehearsal, and no order is known that mends it",
        f"{TESTS[1]} and {TESTS[2]} did not run in the rehearsal: pytest crashed",
    ]


def test_a_crash_of_the_original_order_leaves_nothing_to_compare_with() -> None:
    stage = Stage(World(TESTS, crashes=[TESTS[3]]), 3, 1)
    assert stage.schedule.order == [3, 1]
    assert stage.schedule.warnings == [f"not rehearsed: the original order crashed in {TESTS[3]}"]


def test_the_original_order_needs_no_rehearsal() -> None:
    stage = Stage(World(TESTS), *range(10))
    assert stage.executor.orders == []
    assert stage.schedule.order == list(range(10))
