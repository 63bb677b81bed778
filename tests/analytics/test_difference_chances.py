"""Chances by numpy are the client's, number for number."""

from __future__ import annotations

import random

import pytest
from flakeboard.differences.chances import Chances
from flakeboard.differences.patterns import Category, Number, Pattern, YesNo

from analytics.kernel.differences.chances import FastChances


def patterns(draw: random.Random, runs: int, count: int) -> list[Pattern]:
    found: list[Pattern] = []
    everything = (1 << runs) - 1
    for _ in range(count):
        present = everything if draw.random() < 0.6 else draw.getrandbits(runs)
        if draw.random() < 0.4:
            found.append(YesNo(draw.getrandbits(runs) & present, present))
            continue
        having = [run for run in range(runs) if present >> run & 1]
        values = {run: float(draw.choice((draw.randrange(4), draw.randrange(10**5)))) for run in having}
        if draw.random() < 0.15:
            found.append(Category.of({run: draw.randrange(4) for run in having}))
        elif values:
            found.append(Number(values, draw.random() < 0.5))
    return found


@pytest.mark.parametrize("seed", range(24))
def test_chances_are_the_clients(seed: int) -> None:
    draw = random.Random(seed)
    runs = draw.choice((5, 9, 24, 40))
    failed = draw.choice((1, 2, 4, 5, runs // 2, max(1, runs - 4)))
    failing = sum(1 << run for run in draw.sample(range(runs), min(failed, runs - 1)))
    kinds = [draw.choice(("plain", "random")) if seed % 3 == 0 else "plain" for _ in range(runs)]
    drawn = patterns(draw, runs, draw.choice((1, 3, 40)))
    own, fast = Chances(drawn, failing, kinds), FastChances(drawn, failing, kinds)
    assert fast.relabellings == own.relabellings
    assert fast._largest == pytest.approx(own._largest, abs=1e-12)


def test_nothing_to_relabel() -> None:
    assert FastChances([], 0b1, ["a", "b"]).of(1.0) == Chances([], 0b1, ["a", "b"]).of(1.0) == 1.0
