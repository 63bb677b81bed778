"""Prints a digest of what the package answers: run by several Pythons, all must print the same."""

from __future__ import annotations

from hashlib import sha256

from flakeboard.orders import probability
from flakeboard.orders.configurations import CONFIGURATIONS, order_of
from flakeboard.orders.dependencies import NEGATIVE, POSITIVE, Dependency
from flakeboard.orders.enhance import enhance
from flakeboard.orders.next_order import next_order
from flakeboard.orders.outcomes import Polluter, Victim, victim_of
from flakeboard.orders.pairs import Pairs
from flakeboard.orders.partition import by_groups, by_time
from flakeboard.orders.plans import plan
from flakeboard.orders.priorities import Record, additional, by_failures
from flakeboard.orders.seeded import draw
from flakeboard.orders.suite import Case, Suite


def answers() -> list[object]:
    sizes = [1, 2, 3, 4, 3]
    suite = Suite(
        Case(f"{number}::t{place}", (f"f{number // 2}", str(number)))
        for number, n in enumerate(sizes)
        for place in range(n)
    )
    n = len(suite)
    probability.SAMPLES = 500
    dependencies = [
        Dependency(
            POSITIVE if draw(2, "sign", number) else NEGATIVE,
            (draw(n, "before", number),),
            draw(n, "after", number),
            (draw(n, "cleaner", number),),
            ("shown", "stated", "inferred")[draw(3, "ground", number)],
            draw(9, "age", number),
        )
        for number in range(12)
    ]
    seconds = [draw(1_000, "seconds", test) / 7 for test in range(n)]
    seen = Pairs.of_orders(n, [list(range(n))])
    return [
        [order_of(suite, how, "ü", round) for how in CONFIGURATIONS for round in range(3)],
        plan(suite, seed="s"),
        plan(suite, seconds=seconds, pairs=[(0, 5), (5, 1), (9, 3)]),
        [next_order(suite, seen, count=7, goal=goal) for goal in ("auto", "pairs", "units", "random")],
        probability.chance_in_random_order(suite, victim_of(0, [3, 7], [5])),
        probability.chance_in_random_order(suite, Victim(0, (Polluter((3, 7), (5,)), Polluter((2,))))),
        [
            enhance(list(range(n))[::step], dependencies, original, seconds, suite)
            for step in (1, -1, 2)
            for original in ([], range(n))
        ],
        by_groups(seconds, 3, dependencies),
        by_time(seconds, 3),
        additional([draw(256, "bits", test) for test in range(n)]),
        by_failures([Record(draw(3, "found", test), 9, seconds[test]) for test in range(n)]),
    ]


if __name__ == "__main__":
    print(sha256(repr(answers()).encode()).hexdigest())
