"""Executions a few tests at a time: nothing is left out, and an analysis says the same whatever the size of its parts."""

from dataclasses import fields, is_dataclass, replace
from typing import Any

import numpy as np
import pytest

from analytics.kernel import parts as parts_module
from analytics.kernel.analysis import analyse
from analytics.kernel.executions import Executions, places_among
from analytics.kernel.parts import ChosenTests, add_weights, by_part, parts, rows_where
from analytics.simulation import Settings, simulate

SMALL = Settings(seed=5, tests=60, suites=5, days=12, commits_a_day=3, regressions=2, renames=0, new_tests=2)


def executions_of(rows: list[int]) -> Executions:
    """So many executions of each test; each third fails."""
    test = np.repeat(np.arange(len(rows), dtype=np.int32), rows)
    report = np.concatenate([np.arange(count, dtype=np.int32) for count in rows])
    verdict = (np.arange(len(test)) % 3 == 0).astype(np.uint8)
    return Executions(len(rows), test, report, verdict, np.zeros(len(test), np.int16), np.ones(len(test), np.float32))


@pytest.mark.parametrize("size", [1, 3, 4, 7, 100])
@pytest.mark.parametrize("rows", [[3, 0, 5, 1, 0], [9, 1, 1], [0, 0], [0, 4], [2]])
def test_each_test_and_row_is_in_one_part(monkeypatch: pytest.MonkeyPatch, rows: list[int], size: int) -> None:
    monkeypatch.setattr(parts_module, "ROWS", size)
    ran = executions_of(rows)
    every = list(parts(ran))
    assert [number for part in every for number in range(part.tests.start, part.tests.stop)] == list(range(ran.tests))
    assert [row for part in every for row in range(part.rows.start, part.rows.stop)] == list(range(len(ran.test)))
    for part in every:
        assert (part.executions.test + part.first).tolist() == ran.test[part.rows].tolist()
        assert len(np.unique(part.executions.test)) == 1 or len(part.executions.test) <= size
    assert (
        by_part(ran, lambda part: part.executions.count(part.executions.failing)).tolist()
        == ran.count(ran.failing).tolist()
    )


def test_chosen_tests_keep_their_numbers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parts_module, "ROWS", 4)
    ran, chosen = executions_of([3, 2, 5, 0, 4]), np.array([True, False, True, True, False])
    found = rows_where(ChosenTests(ran, chosen), lambda part: part.failing)
    expected = ran.where(chosen[ran.test] & ran.failing)
    assert (found.tests, found.test.tolist(), found.report.tolist()) == (
        *(ran.tests, expected.test.tolist()),
        expected.report.tolist(),
    )


def test_sums_of_parts_have_the_digits_of_one_sum() -> None:
    rng = np.random.default_rng(1)
    where, weights = rng.integers(0, 5, 1_000), rng.random(1_000)
    sums = np.zeros(5)
    for start in range(0, 1_000, 90):
        sums = add_weights(sums, where[start : start + 90], weights[start : start + 90])
    assert sums.tolist() == np.bincount(where, weights=weights).tolist()


@pytest.mark.parametrize("known", [[], [0], [2, 5, 6], [3, 10_000]])
def test_places_among_known_values(known: list[int]) -> None:
    values = [-1, 0, 2, 3, 5, 6, 7, 9_999, 10_000, 10_001]
    found = places_among(np.array(known, dtype=np.int64), np.array(values))
    assert found.tolist() == [known.index(value) if value in known else -1 for value in values]


def plain(value: Any) -> Any:
    """Something that can be compared."""
    if isinstance(value, np.ndarray):
        return value.dtype.kind, repr(value.tolist())
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: plain(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, dict):
        return {key: plain(part) for key, part in value.items()}
    return [plain(part) for part in value] if isinstance(value, list | tuple) else repr(value)


@pytest.mark.parametrize("retries", [False, True])
@pytest.mark.parametrize("size", [1, 500])
def test_an_analysis_says_the_same_in_parts(monkeypatch: pytest.MonkeyPatch, retries: bool, size: int) -> None:
    window = simulate(replace(SMALL, retries=retries)).window()
    whole = analyse(window)
    monkeypatch.setattr(parts_module, "ROWS", size)
    cut = analyse(window)
    for field in fields(whole):
        assert plain(getattr(cut, field.name)) == plain(getattr(whole, field.name)), field.name
