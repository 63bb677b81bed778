"""Likeness against loops, on its edges, and the right to speak."""

import numpy as np
import pytest
from scipy import stats

from analytics.kernel.flakiness import State
from analytics.kernel.likeness import earlier as earlier_module
from analytics.kernel.likeness import neighbours as neighbours_module
from analytics.kernel.likeness.backtest import backtest, blocks
from analytics.kernel.likeness.earlier import Past, earlier
from analytics.kernel.likeness.labels import Labels, Results, labels
from analytics.kernel.likeness.levels import Cases, Levels, levels, record
from analytics.kernel.likeness.neighbours import nearest
from analytics.kernel.likeness.score import Units, beside, score
from analytics.kernel.parameters import Demands
from tests.likeness import twins
from tests.likeness.units import as_loops, drawn


@pytest.mark.parametrize("seed", range(12))
def test_scores_equal_those_of_loops(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(neighbours_module, "_CELLS", 70)
    units, flaky = drawn(seed, (3, 9, 40)[seed % 3])
    half = len(units) // 2
    examples, learnt = units.take(slice(0, half)), flaky[:half]
    found = score(units, examples, learnt)
    ill = {int(number) for number in examples.number[learnt]}
    for row, question in enumerate(as_loops(units)):
        expected = twins.neighbours(question, as_loops(examples))
        there = found.neighbours.example[row] >= 0
        assert examples.number[found.neighbours.example[row][there]].tolist() == [number for _, number in expected]
        assert found.neighbours.distance[row][there] == pytest.approx([far for far, _ in expected], abs=1e-12)
        like = twins.like(question, as_loops(examples), ill)
        assert found.like[row] == pytest.approx(np.nan if like is None else like, rel=1e-9, nan_ok=True)
        near = twins.beside(question, as_loops(examples), ill)
        assert (found.beside.flaky[row], found.beside.labelled[row]) == near[:2]
        assert found.beside.score[row] == pytest.approx(near[2])
        assert found.score[row] == pytest.approx(twins.score(question, as_loops(examples), ill), rel=1e-9)


def test_ties_go_to_the_lower_number_whatever_the_order() -> None:
    sketch = np.zeros((20, 256), dtype=np.int8)
    sketch[:, 0] = 127
    number = np.random.default_rng(1).permutation(20)
    found = nearest(sketch[:1], sketch, number)
    assert number[found.example[0]].tolist() == list(range(7))
    assert found.distance[0].tolist() == [0.0] * 7


def one_example(flaky: bool) -> tuple[Units, np.ndarray]:
    sketch = np.zeros((1, 256), dtype=np.int8)
    sketch[0, :3] = 127, -60, 5
    return Units(np.array([4]), np.array([0]), sketch), np.array([flaky])


def question_like(units: Units, group: int = 0) -> Units:
    return Units(np.array([99]), np.array([group]), units.sketch[:1])


def test_a_copy_of_a_flaky_test_is_like_it_and_a_stable_copy_makes_it_a_half() -> None:
    flaky, _ = one_example(True)
    assert score(question_like(flaky), flaky, np.array([True])).like[0] == 1.0
    both = Units(np.array([4, 5]), np.array([0, 0]), np.repeat(flaky.sketch, 2, axis=0))
    assert score(question_like(flaky), both, np.array([True, False])).like[0] == pytest.approx(0.5)


def test_a_new_class_without_a_sketch_has_the_base_rate() -> None:
    units, flaky = drawn(3, 30)
    question = Units(np.array([1000]), np.array([77]), np.zeros((1, 256), dtype=np.int8))
    found = score(question, units, flaky)
    base = (flaky.sum() + 0.5) / 31
    assert found.score[0] == pytest.approx(base)
    assert (found.beside.flaky[0], found.beside.labelled[0], np.isnan(found.like[0])) == (0, 0, True)


def test_a_unit_is_no_example_of_itself() -> None:
    units, flaky = one_example(True)
    found = score(units, units, flaky)
    assert (found.beside.flaky[0], found.beside.labelled[0]) == (0, 0)
    assert np.isnan(found.like[0])
    assert (found.neighbours.example == -1).all()


def test_nothing_to_learn_from_or_to_ask_about_is_no_error() -> None:
    units, flaky = drawn(5, 12)
    none = units.take(slice(0, 0))
    assert score(units, none, flaky[:0]).score == pytest.approx(0.5)
    assert len(score(none, units, flaky).score) == 0
    assert len(backtest(none, flaky[:0])) == 0
    assert beside(none, none, flaky[:0]).score.tolist() == []


def test_the_backtest_learns_from_what_is_before_alone() -> None:
    units, flaky = drawn(7, 60)
    cases = backtest(units, flaky)
    assert len(cases) == 48
    row = 0
    for start, end in blocks(60):
        before = {int(number) for number in units.number[:start][flaky[:start]]}
        examples = as_loops(units.take(slice(0, start)))
        for place in range(start, end):
            question = as_loops(units.take(slice(place, place + 1)))[0]
            assert cases.score[row] == pytest.approx(twins.score(question, examples, before), rel=1e-9)
            assert cases.flaky[row] == flaky[place]
            row += 1
    assert row == 48


@pytest.mark.parametrize("seed", range(6))
def test_neighbours_that_are_kept_make_the_backtest_quick_and_change_nothing(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Some units have no label, some no sketch; sketches come and change between analyses."""
    monkeypatch.setattr(earlier_module, "KEPT", 9)
    monkeypatch.setattr(earlier_module, "_CELLS", 700)
    units, flaky = drawn(seed, 90, width=4 if seed % 2 else 8)
    kept, source, quick = None, np.random.default_rng(seed), 0
    for count in (0, 60, 90, 90):
        now = units.take(slice(0, count))
        kept = earlier(now.number, now.sketch.copy(), kept)
        again = earlier(now.number, now.sketch)
        assert np.array_equal(kept.near.example, again.near.example)
        place = np.flatnonzero(source.random(count) < 0.8)
        labelled, past = now.take(place), Past(kept, place)
        expected = backtest(labelled, flaky[place])
        assert backtest(labelled, flaky[place], past).score == pytest.approx(expected.score, rel=1e-12)
        quick += sum(int((~past.like(start, end, flaky[place])[1]).sum()) for start, end in blocks(len(place)))
        units.sketch[source.integers(20, 90)] = units.sketch[3]
    assert quick > 30, "most are answered by what is kept"


@pytest.mark.parametrize("count", [5, 40])
def test_neighbours_that_are_kept_are_the_nearest_earlier_ones(count: int) -> None:
    units, _ = drawn(2, count, width=40)
    found = earlier(units.number, units.sketch).near
    loops = as_loops(units)
    for place, question in enumerate(loops):
        kept = found.example[place][found.example[place] >= 0].tolist()
        expected = twins.neighbours(question, loops[:place], most=earlier_module.KEPT)
        assert units.number[kept].tolist() == [number for _, number in expected]
        assert found.distance[place][: len(kept)] == pytest.approx([far for far, _ in expected], abs=1e-12)
        assert (found.example[place][len(kept) :] == -1).all() and np.isnan(found.distance[place][len(kept) :]).all()


def test_backtest_of_few_tests_is_the_same_with_what_is_kept() -> None:
    units, flaky = drawn(4, 6)
    past = Past(earlier(units.number, units.sketch), np.arange(6))
    assert backtest(units, flaky, past).score == pytest.approx(backtest(units, flaky).score, rel=1e-12)


def test_what_is_kept_answers_for_every_test_where_all_are_examples() -> None:
    """Of 32 neighbours that are kept at most a block is too young to count."""
    source = np.random.default_rng(6)
    sketch = source.integers(-127, 128, (200, 256)).astype(np.int8)
    past = Past(earlier(np.arange(200), sketch), np.arange(200))
    flaky = source.random(200) < 0.3
    assert not any(past.like(start, end, flaky)[1].any() for start, end in blocks(200))


@pytest.mark.parametrize("count", [0, 1, 4, 5, 19, 20, 21, 399])
def test_blocks_cover_what_follows_the_first_fifth_once(count: int) -> None:
    found = list(blocks(count))
    covered = [place for start, end in found for place in range(start, end)]
    first = max(count // 5, found[0][0] if found else count)
    assert covered == list(range(first, count)) and all(start for start, _ in found)


def cases_of(*counts: tuple[float, int, int]) -> Cases:
    """(score, flaky, stable) -> so many of each."""
    scores = [value for value, bad, good in counts for _ in range(bad + good)]
    flaky = [ill for _, bad, good in counts for ill in [True] * bad + [False] * good]
    return Cases(np.array(scores, dtype=float), np.array(flaky, dtype=bool))


def test_likely_is_the_least_level_whose_interval_begins_at_a_half() -> None:
    cases = cases_of((0.55, 6, 6), (0.65, 19, 4), (0.1, 3, 200))
    found = levels(cases, 28, 28 / 238)
    assert found.likely is not None and found.likely.least == 0.5 and found.why == ""
    exact = stats.binomtest(25, 35).proportion_ci(0.95, "exact")
    made = found.likely.record
    assert (made.right, made.of) == (25, 35)
    assert (made.low, made.high) == pytest.approx((exact.low, exact.high))
    stricter = levels(cases, 28, 28 / 238, Demands(least_right=0.6))
    assert stricter.likely is not None and stricter.likely.least == 0.6
    assert (round(stricter.likely.record.low, 3), round(stricter.likely.record.high, 3)) == (0.612, 0.950)


@pytest.mark.parametrize("least", [0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9])
def test_each_tenth_is_a_level(least: float) -> None:
    """Scores just below it were always wrong, those at it always right."""
    found = levels(cases_of((least - 0.05, 0, 400), (least, 20, 0)), 20, 0.05)
    assert found.more_runs is not None and found.more_runs.least == least
    assert (found.likely.least if found.likely else None) == (least if least >= 0.5 else None)


def test_ten_cases_are_enough_and_nine_are_not() -> None:
    ten, nine = (levels(cases_of((0.9, count, 0)), 10, 0.5) for count in (10, 9))
    assert ten.likely is not None and ten.likely.record.of == 10
    assert nine.likely is None


def test_an_interval_that_begins_where_it_must_is_enough() -> None:
    cases = cases_of((0.9, 18, 2))
    low = record(cases, 0.9).low
    assert levels(cases, 18, 0.5, Demands(least_right=low)).likely is not None
    assert levels(cases, 18, 0.5, Demands(least_right=np.nextafter(low, 1))).likely is None


def test_a_score_at_the_level_counts() -> None:
    assert record(cases_of((0.5, 3, 1), (0.49, 5, 5)), 0.5).of == 4


def test_more_runs_is_measured_against_chance_and_only_where_chance_is_small() -> None:
    cases = cases_of((0.25, 8, 12), (0.05, 2, 198))
    found = levels(cases, 10, 0.04)
    assert found.likely is None and found.more_runs is not None
    assert found.more_runs.least == 0.2 and found.more_runs.record.low >= 3 * 0.04
    assert levels(cases, 10, 0.07).more_runs is None
    assert levels(cases_of((0.95, 50, 0)), 50, 1 / 3).more_runs is None


@pytest.mark.parametrize(
    ("cases", "flaky", "why"),
    [
        (cases_of((0.9, 40, 0)), 6, "fewer than 7 flaky tests to learn from"),
        (cases_of((0.9, 9, 0), (0.1, 0, 90)), 9, "fewer than 10 earlier cases to judge by"),
        (cases_of((0.9, 3, 7), (0.1, 4, 90)), 7, "earlier predictions were right too seldom (3 of 10)"),
        (cases_of((0.9, 12, 19), (0.1, 0, 90)), 12, "earlier predictions were right too seldom (12 of 31)"),
    ],
)
def test_silence_has_its_reason(cases: Cases, flaky: int, why: str) -> None:
    assert levels(cases, flaky, 0.5) == Levels(None, None, why)


def test_labels_that_mean_nothing_earn_no_word() -> None:
    source = np.random.default_rng(4)
    units, _ = drawn(11, 400, groups=40, width=40)
    spoke = 0
    for _ in range(10):
        flaky = source.random(400) < 0.15
        spoke += levels(backtest(units, flaky), int(flaky.sum()), float(flaky.mean())).likely is not None
    assert spoke == 0


def test_labels_of_functions() -> None:
    state = {
        "stable": State.STABLE,
        "flaky": State.FLAKY,
        "was": State.RECOVERED,
        "odd": State.SUSPECT,
        "new": State.UNEXECUTED,
    }
    rows = [  # unit, state, executed, failed, in incidents
        (0, "stable", 100, 0, 0),
        (1, "stable", 99, 0, 0),
        (2, "flaky", 20, 3, 0),
        (2, "stable", 400, 0, 0),
        (3, "stable", 200, 0, 4),
        (4, "odd", 500, 1, 0),
        (5, "stable", 300, 2, 0),
        (6, "was", 90, 1, 0),
        (7, "stable", 40, 0, 0),
        (7, "stable", 160, 0, 0),
        (8, "stable", 30, 0, 2),
        (9, "stable", 0, 0, 0),
        (10, "stable", 300, 1, 0),
        (11, "stable", 300, 0, 1),
        (12, "stable", 1, 0, 0),
        (12, "new", 0, 0, 0),
    ]
    unit, names, *counts = zip(*rows, strict=True)
    found = labels(Results(np.array(unit), np.array([state[name] for name in names]), *map(np.array, counts)), 14)
    assert np.flatnonzero(found.flaky).tolist() == [2, 6]
    assert np.flatnonzero(found.stable).tolist() == [0, 7]
    assert np.flatnonzero(found.open).tolist() == [1, 8, 12], "in an incident alone: no label, and nothing against it"
    assert np.flatnonzero(found.known).tolist() == [0, 2, 6, 7]


def test_examples_stand_for_the_project_unless_most_quiet_tests_ran_too_seldom() -> None:
    def of(often: int, seldom: int) -> Labels:
        executed = np.array([100] * often + [99] * seldom)
        nothing = np.zeros_like(executed)
        stable = np.full_like(executed, State.STABLE)
        return labels(Results(np.arange(len(executed)), stable, executed, nothing, nothing), len(executed))

    assert of(3, 3).representative and not of(3, 4).representative
