"""How many flaky tests have not failed yet: a lower bound that holds."""

import numpy as np
import pytest

from analytics.kernel.hidden import Hidden, hidden


def test_tests_are_counted_by_how_often_they_failed() -> None:
    assert hidden(np.array([0, 1, 1, 2, 7, 1])) == Hidden(found=5, once=3, twice=1)


@pytest.mark.parametrize(
    ("counts", "at_least"),
    [
        (Hidden(0, 0, 0), 0),
        (Hidden(5, 1, 0), 5),
        (Hidden(5, 2, 0), 6),
        (Hidden(246, 50, 20), 246 + 50 * 49 / 42),
    ],
)
def test_the_bound_is_chaos(counts: Hidden, at_least: float) -> None:
    assert counts.at_least == pytest.approx(at_least)


def test_a_bound_above_all_tests_says_no_more_than_was_found() -> None:
    """39 tests that failed once, most of them together: 741 more flaky tests cannot be among 322."""
    counts = Hidden(found=40, once=39, twice=0)
    assert (counts.within(322), counts.within(781)) == (40, 781)


def test_the_bound_lies_between_what_was_found_and_what_there_is() -> None:
    """Many flaky tests with rates that spread over orders of magnitude, run 100 times each."""
    draw = np.random.default_rng(7)
    rates = 10 ** draw.uniform(-4, -0.3, 416)
    bounds = np.array([[(counts := hidden(draw.binomial(100, rates))).found, counts.at_least] for _ in range(50)])
    found, at_least = bounds.mean(axis=0)
    assert found + 20 < at_least < 416
