"""155 real order-dependent tests: how many of them random orders, reverses and plans find."""

from collections.abc import Iterable, Sequence

import numpy as np
from flakeboard.orders.outcomes import fails
from flakeboard.orders.plans import plan
from flakeboard.orders.probability import chance_in_any_order, chance_in_random_order
from flakeboard.orders.seeded import seeded_order
from scipy import stats

from bench.lab.idoft import Real, real_tests
from bench.outcome import Outcome

AFTER = (1, 2, 5, 10, 20, 50)
PUBLISHED = {False: (0.37, 0.57, 0.78, 0.87, 0.92, 0.97), True: (0.37, 0.69, 0.81, 0.87, 0.92, 0.97)}
"""Found after so many orders; by random orders, and with the reverse of each order that showed nothing."""
SEEDS = 40


def run(seeds: int = SEEDS) -> Iterable[Outcome]:
    tests = list(real_tests())
    yield Outcome("real order-dependent tests", len(tests), least=155, most=155)
    compatible = np.mean([float(chance_in_random_order(test.suite, test.dependent).value) for test in tests])
    yield Outcome("mean chance in a compatible order", float(compatible), least=0.368, most=0.378)
    anywhere = np.mean([float(chance_in_any_order(test.dependent).value) for test in tests])
    yield Outcome("mean chance in any order", float(anywhere), least=0.423, most=0.433)
    shares = {}
    for reverses, published in PUBLISHED.items():
        shares[reverses] = np.array([_found(test, seeds, reverses) for test in tests])
        way = "reverse after a pass" if reverses else "random"
        for number, after in enumerate(AFTER):
            value = float(shares[reverses][:, number].mean())
            bar = published[number]
            yield Outcome(f"{way}: found after {after} orders", value, least=bar - 0.015, most=bar + 0.015)
    two = AFTER.index(2)
    yield Outcome("reverse after a pass: found after 2 orders", float(shares[True][:, two].mean()), least=0.66)
    test = stats.wilcoxon(shares[True][:, two], shares[False][:, two], alternative="greater")
    yield Outcome("against random, Wilcoxon's p", float(test.pvalue), most=1e-6)
    yield Outcome("found by pairs, and each test alone once", sum(map(_is_found_by_pairs, tests)), least=len(tests))


def _found(test: Real, seeds: int, reverses: bool) -> list[float]:
    """The shares of seeds that show the failure within so many orders."""
    first = np.array([_first_failure(test, seed, AFTER[-1], reverses) for seed in range(seeds)])
    return [float(np.mean(first <= after)) for after in AFTER]


def _first_failure(test: Real, seed: int, most: int, reverses: bool) -> int:
    """The number of the first order that fails; one more than the most if none does."""
    turned: Sequence[int] | None = None
    for number in range(1, most + 1):
        if turned is None:
            order = seeded_order(test.suite, f"{test.name} {seed}", number)
            turned = order[::-1] if reverses else None
        else:
            order, turned = list(turned), None
        if fails(order, test.dependent):
            return number
    return most + 1


def _is_found_by_pairs(test: Real) -> bool:
    orders = [*plan(test.suite).orders, [test.dependent.test]]
    return any(fails(order, test.dependent) for order in orders)
