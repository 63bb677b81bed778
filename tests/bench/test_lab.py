"""Slices of the benchmarks of orders: what they measure holds for a small part too."""

from random import Random

import numpy as np
import pytest
from flakeboard.orders.enhance import enhance
from flakeboard.orders.outcomes import Brittle, Victim, fails

from analytics.simulation.dependent_suites import SIZES, draw_suite
from bench.lab import formulas, plans, real_tests, reruns, schedules
from bench.outcome import Outcome
from tests.lab.orders.twins import enhanced_slowly, faults, simple_schedule, wild_schedule
from tests.paths import needs_data


def missed(outcomes) -> list[str]:
    return [str(outcome) for outcome in outcomes if not outcome.good]


def test_planted_suites_pass_in_their_original_order() -> None:
    rng = np.random.default_rng(3)
    for tests, dependents in SIZES:
        suite = draw_suite(tests, dependents, rng)
        assert len(suite.dependents) == dependents and len(suite.seconds) == len(suite.functions) == tests
        assert not any(fails(range(tests), each) for each in suite.dependents)
        assert all(bits for bits in suite.statements)


def test_planted_suites_have_the_published_shares() -> None:
    rng = np.random.default_rng(1)
    drawn = [each for _ in range(40) for each in draw_suite(78, 42, rng).dependents]
    brittle = [each for each in drawn if isinstance(each, Brittle)]
    assert len(brittle) / len(drawn) == pytest.approx(0.09, abs=0.02)
    groups = [each for each in drawn if isinstance(each, Victim) and len(each.polluters[0].group) > 1]
    assert len(groups) / len(drawn) == pytest.approx(0.03, abs=0.015)
    assert all(any(fails(order, each) for order in (range(77, -1, -1), [each.test])) for each in brittle)


def test_every_planted_test_fails_in_some_order() -> None:
    suite, random = draw_suite(78, 42, np.random.default_rng(2)), Random(1)
    orders = [random.sample(range(78), 78) for _ in range(300)]
    assert all(any(fails(order, each) for order in orders) for each in suite.dependents)


def test_twelve_algorithms_are_scheduled_and_enhanced(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(schedules, "SIZES", SIZES[:5])
    plain, enhanced, slower = schedules.counted_failures(2)
    labels = {f"{kind}{number}" for kind, count in (("T", 4), ("S", 6), ("P", 2)) for number in range(1, count + 1)}
    assert set(plain) == labels and plain.total() > 50
    assert enhanced[1.0].total() == 0 and enhanced[0.8].total() < 0.5 * plain.total()
    assert 1 <= slower < 1.05
    assert plain["P2"] > plain["P1"]


def test_a_thousand_schedules_equal_their_twins() -> None:
    assert missed(schedules._against_twin(2_000)) == []


def test_the_bench_sees_a_schedule_that_keeps_nothing() -> None:
    broken = [
        (schedule, enhance(schedule.chosen, [], schedule.original))
        for schedule in map(wild_schedule, map(Random, range(50)))
    ]
    assert any(faults(schedule, made) for schedule, made in broken)
    simple = list(map(simple_schedule, map(Random, range(50))))
    assert any(schedule.chosen != enhanced_slowly(schedule) for schedule in simple)


def test_priorities_by_regressions_beat_the_original_order() -> None:
    outcomes: list[Outcome] = list(schedules._regressions(tests=300, builds=100))
    assert len(outcomes) == 5 and missed(outcomes) == []


def test_verdicts_of_reruns_are_those_published() -> None:
    assert missed(reruns.run()) == []


@needs_data
def test_the_reverse_finds_more_real_tests_than_a_second_random_order() -> None:
    tests = list(real_tests.real_tests())[::8]
    two = real_tests.AFTER.index(2)
    random, reverse = (
        np.mean([real_tests._found(test, 5, reverses)[two] for test in tests]) for reverses in (False, True)
    )
    assert reverse > random + 0.05
    assert all(map(real_tests._is_found_by_pairs, tests))


def test_formulas_equal_counting_for_four_relevant_tests(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(formulas, "RELEVANT", 4)
    judged, wrong = formulas._enumerated()
    assert judged.value > 500 and wrong.value == 0


def test_plans_of_the_bench_are_compared_with_algorithm_31() -> None:
    from tests.lab.orders.suites import suite_of

    assert len(plans._families()) > 10 and all(
        10 <= sum(sizes) <= 60 and len(sizes) >= 3 for sizes in plans._families()
    )
    assert 48 <= plans._algorithm_31(suite_of([4, 4, 4])) <= 75
