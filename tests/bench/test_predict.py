"""A slice of the benchmark of predictions: the published figures, and our scores beside them."""

from collections import Counter
from functools import partial

import numpy as np
import pytest
from flakeboard.sketches.sketch import Sketch, sketch_of

from bench.predict import flast
from bench.predict.earned_words import life, shuffled
from bench.predict.measures import average_precision
from bench.predict.projects import Case, bag, by_project, cases
from bench.predict.protocol_scores import _flast, _ours, judged
from bench.predict.protocols import at_random, by_class, by_time
from bench.predict.units import labels, units_of
from tests.paths import needs_data

_SKETCHES: dict[tuple[int, bytes], Sketch | None] = {}
"""By the words of a case, which `cases` keeps."""


@pytest.fixture(autouse=True)
def _sketched_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """The same cases are judged in several ways."""

    def sketch(words: Counter[str], key: bytes) -> Sketch | None:
        known = (id(words), key)
        if known not in _SKETCHES:
            _SKETCHES[known] = sketch_of(words, key)
        return _SKETCHES[known]

    monkeypatch.setattr("bench.predict.units.sketch_of", sketch)


def python_projects(*, dated: bool) -> list[list[Case]]:
    return list(by_project(cases("python"), dated=dated).values())


@needs_data
def test_scores_by_time_are_better_than_published_ones_and_a_random_split_flatters() -> None:
    def measure(splits, scores) -> float:
        held = judged(python_projects(dated=splits is by_time), splits, scores)
        (found,) = (held.scores[name] for name in ("both", "flast") if name in held.scores)
        return average_precision(found, held.flaky)

    ours, theirs = measure(by_time, partial(_ours, key="a")), measure(by_time, _flast)
    assert ours >= 0.67 and ours > theirs > 0.5
    assert measure(at_random, partial(_ours, key="a")) > max(0.89, ours + 0.1)


@needs_data
def test_some_projects_earn_their_word_and_shuffled_labels_do_not() -> None:
    projects = python_projects(dated=True)
    lives = [life(units_of(project, "a"), labels(project)) for project in projects]
    times, right = (sum(getattr(lived.likely, name) for lived in lives) for name in ("times", "right"))
    assert times > 100 and right / times >= 0.78
    assert 6 <= sum(lived.likely.times == 0 for lived in lives) < len(lives)
    assert shuffled(projects, 1) == 0


def cases_of(flaky: str) -> list[Case]:
    return [
        Case("p", f"c{place // 3}", f"t{place}", ill == "1", "", bag("0 1:2", ["a", "b"]))
        for place, ill in enumerate(flaky)
    ]


def test_protocols_hold_every_test_back_once_and_never_teach_it() -> None:
    some_cases = cases_of("100100000" * 6)
    for protocol in (at_random, by_class):
        splits = list(protocol(some_cases))
        assert sorted(np.concatenate([held for _, held in splits]).tolist()) == list(range(54))
        assert all(not set(learnt.tolist()) & set(held.tolist()) for learnt, held in splits)
    for learnt, held in by_class(some_cases):
        assert not {some_cases[place].group for place in learnt} & {some_cases[place].group for place in held}
    times = list(by_time(some_cases))
    assert len(times) == 6 and all(learnt.max() < held.min() for learnt, held in times)
    assert len(times[0][0]) == 22 and times[-1][1].max() == 53


def test_flast_takes_a_copy_of_a_stable_test_for_stable() -> None:
    points = np.array([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0], [1.0, 0.0], [0.6, 0.8]])
    flaky = np.array([True, False, True, False, False])
    found = flast.scores(points, flaky, np.arange(3), np.array([3, 4]), k=3)
    assert found[0] == 0.0
    assert found[1] == pytest.approx((1 / 0.4 + 1 / 0.2) / (2 / 0.4 + 1 / 0.2))
    assert flast.dimensions(1703, 0.33) == 700 and flast.dimensions(2804) == 882


def test_average_precision_counts_equal_scores_at_once() -> None:
    assert average_precision(np.array([0.9, 0.9, 0.1]), np.array([True, False, True])) == 0.5 * 0.5 + 0.5 * 2 / 3
