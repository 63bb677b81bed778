"""Verdicts of reruns on a matrix with the published counts, and the published curves from rates drawn to match."""

from collections import Counter
from collections.abc import Iterable

import numpy as np
from flakeboard.orders.rerun_verdicts import FAILED, INFRASTRUCTURE, NOD, OD, PASSED, rerun_kind

from analytics.kernel.reruns import exposed, to_expose
from bench.outcome import Outcome

COUNTS = {INFRASTRUCTURE: 2_158, OD: 4_461, NOD: 952}
ITERATIONS, RUNS = 10, 20


def run() -> Iterable[Outcome]:
    rng = np.random.default_rng(0)
    tests = [(kind, _matrix(kind, rng)) for kind, count in COUNTS.items() for _ in range(count)]
    tests += [("", _matrix("", rng)) for _ in range(5_000)]
    found = Counter(rerun_kind(*bits) for _, bits in tests)
    for kind, count in COUNTS.items():
        yield Outcome(f"{kind}, of {count:,} published", found[kind], least=count, most=count)
    wrong = sum(rerun_kind(*bits) != kind for kind, bits in tests)
    yield Outcome("tests with another verdict than was planted", wrong, most=0)
    joined = sum(rerun_kind(*_by_machine(bits)) != kind for kind, bits in tests)
    yield Outcome("with another verdict by iterations of three machines", joined, most=0)
    yield from _curves(rng)


def _matrix(kind: str, rng: np.random.Generator) -> tuple[list[int], list[int]]:
    """Bits by iteration, in the same order and in random ones, of a test of a kind that showed itself."""
    while True:
        passes = np.ones((2, ITERATIONS, RUNS), dtype=bool)
        if kind == NOD:
            passes &= rng.random(passes.shape) >= rng.uniform(0.005, 0.5)
        elif kind == OD:
            passes[0] = rng.random() < 0.8
            passes[1] = rng.random(passes[1].shape) >= rng.uniform(0.02, 0.9)
        elif kind == INFRASTRUCTURE:
            passes &= (rng.random(ITERATIONS) >= rng.uniform(0.1, 0.9))[None, :, None]
        elif rng.random() < 0.1:
            passes[:] = False
        shows = {
            NOD: _is_mixed(passes[0]).any(),
            OD: _is_mixed(passes[1]).any(),
            INFRASTRUCTURE: passes.any() and not passes.all(),
            "": True,
        }
        if shows[kind]:
            same, random = (PASSED * rows.any(axis=1) | FAILED * (~rows).any(axis=1) for rows in passes)
            return same.tolist(), random.tolist()


def _is_mixed(rows: np.ndarray) -> np.ndarray:
    return rows.any(axis=1) & (~rows).any(axis=1)


def _by_machine(bits: tuple[list[int], list[int]]) -> tuple[list[int], list[int]]:
    """The iterations as three machines send them, joined by the key of the experiment."""
    same, random = bits
    return [end for machine in range(3) for end in same[machine::3]], [
        end for machine in (2, 0, 1) for end in random[machine::3]
    ]


def _curves(rng: np.random.Generator) -> Iterable[Outcome]:
    """Failure rates with the published medians: the curves must then give the published numbers of runs."""
    nod = _rates(COUNTS[NOD], 0.0175, 0.33, 580, rng)
    needed = to_expose(1 - nod, nod, 0.95)
    yield Outcome("NOD: median of runs for 95 %", float(np.median(needed)), least=169, most=171)
    yield Outcome("NOD: found by ten reruns", 100 * float(exposed(10, 1 - nod, nod).mean()), "%", least=32, most=34)
    reached = float(np.mean(exposed(200, 1 - nod, nod) > 0.95))
    yield Outcome("NOD: S(200, 0.95)", 100 * reached, "%", least=60, most=62)
    od = _rates(COUNTS[OD], 0.092, 0.54, None, rng)
    yield Outcome("OD: median of runs for 95 %", float(np.median(to_expose(1 - od, od, 0.95))), least=30, most=32)
    yield Outcome("OD: found by ten reruns", 100 * float(exposed(10, 1 - od, od).mean()), "%", least=53, most=55)


def _rates(count: int, median: float, by_ten: float, above: int | None, rng: np.random.Generator) -> np.ndarray:
    """Rates with this median and this mean of U(10), `above` of them high enough for U(200) > 0.95: half below the
    median by a power of what is drawn, half above it by another, which is searched for."""
    low = median * rng.random(count // 2) ** 0.7
    if above is not None:
        enough = 1 - 0.05 ** (1 / 200)
        near = above - (count - count // 2)
        low = np.concatenate(
            [rng.uniform(enough * 1.001, median, near), rng.uniform(0.002, enough * 0.99, count // 2 - near)]
        )
    spread = rng.random(count - count // 2)

    def rates(power: float) -> np.ndarray:
        return np.concatenate([low, median + (0.5 - median) * spread**power])

    least, most = 0.01, 50.0
    for _ in range(60):
        power = (least + most) / 2
        found = float(exposed(10, 1 - rates(power), rates(power)).mean())
        least, most = (power, most) if found > by_ten else (least, power)
    return rates(least)
