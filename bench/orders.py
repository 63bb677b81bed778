"""Orders in a history: where order-dependent tests truly fail, and whether the data can reveal their partners."""

from collections.abc import Mapping

import numpy as np

from analytics.kernel.executions import Flags, Ints
from analytics.kernel.window import Window
from analytics.simulation.truth import Flake, Kind, Truth

BOTH_POSITIONS = 10
"""A partner is expected to be found if it ran before its test and after it at least this often."""


def steps(window: Window) -> Ints:
    """Orders x tests: the position of the test; -1 if it did not run."""
    step = np.full((len(window.orders), len(window.executed)), -1, dtype=np.int64)
    for number, order in enumerate(window.orders):
        step[number, order] = np.arange(len(order))
    return step


def fails_in(flake: Flake, step: Ints) -> Flags:
    """By order: a victim fails after a polluter without a cleaner in between, a brittle test without a setter."""
    own = step[:, [flake.number]]

    def latest(others: tuple[int, ...]) -> Ints:
        theirs = step[:, list(others)]
        return np.asarray(np.where(theirs < own, theirs, -1).max(axis=1, initial=-1))

    partner = latest(flake.partners)
    ran = own[:, 0] >= 0
    return np.asarray(ran & (partner < 0 if flake.kind is Kind.BRITTLE else partner > latest(flake.cleaners)))


def failing_share(flake: Flake, step: Ints, order: Ints) -> float:
    """The share of reports of known order (`order` by report) in which the order makes the test fail; NaN for none."""
    known = order[order >= 0]
    known = known[step[known, flake.number] >= 0]
    return float(np.mean(fails_in(flake, step)[known])) if len(known) else float("nan")


def positions(step: Ints, order: Ints, test: int, partner: int) -> tuple[int, int]:
    """In how many reports of known order the partner ran before the test, and after it."""
    own, theirs = step[order[order >= 0], test], step[order[order >= 0], partner]
    both = (own >= 0) & (theirs >= 0)
    return int(np.count_nonzero(both & (theirs < own))), int(np.count_nonzero(both & (theirs > own)))


def partner_ranks(window: Window, truth: Truth, kind: Kind, ranked: Mapping[int, Ints]) -> list[int]:
    """For each flaky test of a kind whose partner can be found: the rank of its first true partner, 0 for none.

    `ranked` by test number: the partners concluded, the best first."""
    step, order, ranks = steps(window), window.reports.order, []
    for flake in truth.flakes.values():
        decidable = [min(positions(step, order, flake.number, partner)) >= BOTH_POSITIONS for partner in flake.partners]
        if flake.kind is kind and any(decidable):
            hit = np.flatnonzero(np.isin(ranked.get(flake.number, np.zeros(0, np.int64)), flake.partners))
            ranks.append(int(hit[0]) + 1 if len(hit) else 0)
    return ranks
