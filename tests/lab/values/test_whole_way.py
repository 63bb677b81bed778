"""`flakeboard bounds` with real pytest: seeds varied, fixtures torn down after each run, and what follows from the values."""

from pathlib import Path

import pytest
from flakeboard.bounds.measurement import BROKEN, NO_VALUES, Findings

from bench.bounds.whole_way import Workplace
from tests.lab.values.forking import forked_sessions

__all__ = ["forked_sessions"]
pytestmark = pytest.mark.usefixtures("forked_sessions")

DRAWS = """
import numpy as np
import pytest

RUNS = []

@pytest.fixture(scope="session")
def shared():
    RUNS.append(1)
    yield
    RUNS.pop()

def test_draw(shared):
    assert len(RUNS) == 1
    x = np.random.default_rng(42).normal()
    assert x < 1.645
"""
OTHERS = """
import random

def test_broken():
    assert random.random() < 0.2

def test_plain():
    assert "a" < "b"
"""


def measured(folder: Path, test: str, runs: int = 100, project: str = DRAWS) -> Findings:
    (folder / "test_it.py").write_text(project)
    return Workplace(folder).measured(f"test_it.py::{test}", runs)


def test_random_test_is_measured_with_varied_seeds(tmp_path: Path) -> None:
    found = measured(tmp_path, "test_draw")
    assert len(found.runs) == 100 and len({run.number for run in found.runs}) == 100
    (draws,) = found.series
    assert len(set(draws.values)) > 90 and draws.failures == found.failed
    assert (draws.site.line, found.seeds) == (16, ["test_it.py:15"])
    assert found.answer is not None
    present = found.answer["sites"][-1]["conclusion"]["present"]
    assert present["low"] <= 0.05 <= present["high"]


def test_broken_tests_and_tests_without_values_are_told(tmp_path: Path) -> None:
    broken = measured(tmp_path, "test_broken", project=OTHERS)
    assert broken.stopped == BROKEN.format(failed=broken.failed, runs=100) and broken.answer is None
    assert measured(tmp_path, "test_plain", runs=25, project=OTHERS).stopped == NO_VALUES


def test_seeds_that_are_kept_make_one_draw_and_their_line_is_named(tmp_path: Path) -> None:
    (tmp_path / "test_it.py").write_text(DRAWS)
    found = Workplace(tmp_path).measured("test_it.py::test_draw", 20, exactly=True, keep_seeds=True)
    (draws,) = found.series
    assert len(draws.values) == 20 and draws.is_constant and found.seeds == ["test_it.py:15"]
