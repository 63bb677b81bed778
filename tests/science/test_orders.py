"""Published figures of order-dependent tests, from the data that was published with them."""

from __future__ import annotations

from statistics import mean, median

import pytest
from flakeboard.orders import probability
from flakeboard.orders.outcomes import Victim
from flakeboard.orders.probability import ESTIMATED, chance_in_any_order, chance_in_random_order

from bench.lab.idoft import real_tests
from tests.conftest import needs_data
from tests.science.test_published import rows

pytestmark = needs_data


def test_when_tests_become_flaky() -> None:
    """Lam 2020a: 184 of 245 when they are introduced; of the others 24 by a commit that changes their own class."""
    tests = rows("idoft/tic-fic-data.csv")
    later = [row for row in tests if row["TIC = FIC"] != "TRUE"]
    assert (len(tests), len(tests) - len(later), len(later)) == (245, 184, 61)
    own_class = sum(row["Flaky Test File Modified"] == "TRUE" for row in later)
    assert own_class == 24 and 184 + own_class == 208
    assert (round(100 * 184 / 245), round(100 * 208 / 245), round(100 * 24 / 61)) == (75, 85, 39)


def test_how_long_after_their_introduction_tests_become_flaky() -> None:
    """Median 554 commits, mean 7,089; without the outlier, a project of 23 tests, 144 commits and 154 days."""
    later = [row for row in rows("idoft/tic-fic-data.csv") if row["TIC = FIC"] != "TRUE"]
    commits = [int(row["Commits Between TIC-FIC"]) for row in later]
    assert (median(commits), round(mean(commits))) == (554, 7_089)
    others = [row for row in later if "wildfly" not in row["Project URL"]]
    assert median(int(row["Commits Between TIC-FIC"]) for row in others) == 144
    assert round(median(float(row["Days Between TIC-FIC"]) for row in others)) == 154


def test_chances_of_real_order_dependent_tests(monkeypatch: pytest.MonkeyPatch) -> None:
    """Mean chances 37.3 % in compatible and 42.8 % in any order; 44 victims have polluters that share no cleaners."""
    monkeypatch.setattr(probability, "SAMPLES", 1_000)
    tests = list(real_tests())
    assert len(tests) == 155 and sum(isinstance(test.dependent, Victim) for test in tests) == 135
    compatible = [chance_in_random_order(test.suite, test.dependent) for test in tests]
    assert sum(chance.how == ESTIMATED for chance in compatible) == 44
    assert mean(float(chance.value) for chance in compatible) == pytest.approx(0.373, abs=0.002)
    anywhere = [chance_in_any_order(test.dependent) for test in tests]
    assert mean(float(chance.value) for chance in anywhere) == pytest.approx(0.428, abs=0.002)
