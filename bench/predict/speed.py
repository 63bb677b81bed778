"""How long a backtest and a question take."""

import time
from collections.abc import Iterable

import numpy as np

from analytics.kernel.likeness.backtest import backtest
from analytics.kernel.likeness.score import Units, score
from bench.outcome import Outcome

UNITS, EXAMPLES, QUESTIONS = 10_000, 50_000, 200


def run() -> Iterable[Outcome]:
    units, flaky = drawn(UNITS)
    began = time.process_time()
    backtest(units, flaky)
    yield Outcome(f"backtest of {UNITS:,} units", time.process_time() - began, "s", most=3)
    (examples, flaky), (questions, _) = drawn(EXAMPLES), drawn(QUESTIONS)
    began = time.process_time()
    score(Units(questions.number + EXAMPLES, questions.group, questions.sketch), examples, flaky)
    yield Outcome(f"{QUESTIONS} questions against {EXAMPLES:,} examples", time.process_time() - began, "s", most=1)


def drawn(count: int) -> tuple[Units, np.ndarray]:
    """Sketches as sparse as real ones, in classes of ten."""
    source = np.random.default_rng(count)
    sketch = np.where(source.random((count, 256)) < 0.3, source.integers(-127, 128, (count, 256)), 0).astype(np.int8)
    return Units(np.arange(count), np.arange(count) // 10, sketch), source.random(count) < 0.05
