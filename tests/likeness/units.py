"""Small units to be compared, and the same for loops."""

import numpy as np

from analytics.kernel.likeness.score import Units
from tests.likeness import twins


def drawn(seed: int, count: int, groups: int = 5, width: int = 8) -> tuple[Units, np.ndarray]:
    """Small sketches of few values, so that there are copies, ties and tests without any."""
    source = np.random.default_rng(seed)
    sketch = np.zeros((count, 256), dtype=np.int8)
    sketch[:, :width] = source.integers(-2, 3, (count, width)) * source.integers(0, 2, (count, 1)) * 60
    number = source.permutation(3 * count)[:count]
    return Units(number, source.integers(-1, groups, count), sketch), source.random(count) < 0.3


def as_loops(units: Units) -> list[twins.Unit]:
    return [
        (number, group, sketch)
        for number, group, sketch in zip(
            units.number.tolist(), units.group.tolist(), units.sketch.astype(int).tolist(), strict=True
        )
    ]
