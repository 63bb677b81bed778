"""The expected share of random orders, from stored dependencies: the shared implementation, given the right case."""

import pytest

from analytics.lab.chances import expected_share
from analytics.lab.dependencies import KnownDependency
from analytics.lab.models import Dependency
from ingest.identity import TestName

A = [TestName(number, "", "tests.test_a", f"test_{number}", "tests/test_a.py") for number in range(3)]
B = [TestName(number, "", "tests.test_b.TestB", f"test_{number}", "tests/test_b.py") for number in range(3, 6)]
NAMES = {test.number: test for test in (*A, *B)}


def known(*before: int, cleaners: tuple[int, ...] = (), role: str = "polluter", **details: object) -> KnownDependency:
    row = Dependency(details=details)
    return KnownDependency("shown", role, 0, before, cleaners, row=row)


@pytest.mark.parametrize(
    ("dependencies", "fraction", "orders"),
    [
        ([known(1)], "1/2", 5),
        ([known(3)], "1/2", 5),
        ([known(1), known(3)], "3/4", 3),
        ([known(3, cleaners=(1,))], "1/4", 11),
        ([known(1, role="state-setter"), known(3, role="state-setter")], "1/4", 11),
    ],
)
def test_formulas(dependencies: list[KnownDependency], fraction: str, orders: int) -> None:
    share = expected_share(dependencies, NAMES)
    assert (share.fraction, share.orders) == (fraction, orders)
    assert share.value == pytest.approx(float(fraction[0]) / float(fraction[2]))


def test_in_words() -> None:
    case = "classes, by the partners that are known"
    words = f"25 % (1/4) of random orders make it fail ({case}); 11 random orders show it with 95 %"
    assert expected_share([known(3, cleaners=(1,))], NAMES).words == words
    estimate = {"value": 0.2, "how": "estimated", "interval": [0.19, 0.21]}
    words = "about 20 % (19–21 %) of random orders make it fail (estimated); 14 random orders show it with 95 %"
    assert expected_share([known(1, 3, random_orders=estimate)], NAMES).words == words


def test_where_no_formula_holds_the_experiment_is_believed() -> None:
    estimate = {"value": 0.2, "how": "estimated", "interval": [0.19, 0.21]}
    assert expected_share([known(1, 3)], NAMES) is None
    share = expected_share([known(1, 3, random_orders=estimate)], NAMES)
    assert (share.value, share.how, share.interval, share.orders) == (0.2, "estimated", (0.19, 0.21), 14)
    unshared = [known(1, cleaners=(2,), random_orders=estimate), known(3)]
    assert expected_share(unshared, NAMES).how == "estimated"
