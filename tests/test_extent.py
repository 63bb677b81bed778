"""Slices of the heaviest acceptance: the same in every run, whole where that is asked for."""

import pytest

from tests import extent


@pytest.fixture(autouse=True)
def usual(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(extent, "WHOLE", False)


def test_a_slice_is_evenly_spaced_and_has_both_ends() -> None:
    assert extent.slice_of(range(10), 4) == [0, 3, 6, 9]
    assert extent.slice_of(range(484), 100)[-1] == 483
    assert len(set(extent.slice_of(range(484), 100))) == 100


@pytest.mark.parametrize(("most", "slice_"), [(1, [0]), (3, [0, 1, 2]), (5, [0, 1, 2])])
def test_of_few_cases_all_are_taken(most: int, slice_: list[int]) -> None:
    assert extent.slice_of([0, 1, 2], most) == slice_


def test_the_whole_is_asked_for_by_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    assert (extent.repeats(2, 9), len(extent.slice_of(range(50), 5))) == (2, 5)
    monkeypatch.setattr(extent, "WHOLE", True)
    assert (extent.repeats(2, 9), len(extent.slice_of(range(50), 5))) == (9, 50)
