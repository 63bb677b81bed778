"""When an order keeps a dependency."""

from __future__ import annotations

import pytest
from flakeboard.orders.dependencies import Dependency, holds, negative, positive, steps


@pytest.mark.parametrize(
    ("dependency", "order", "kept"),
    [
        (positive(1, 2), [1, 2], True),
        (positive(1, 2), [2, 1], False),
        (positive(1, 2), [2], False),
        (positive(1, 2), [1], True),
        (negative(1, 2), [1, 2], False),
        (negative(1, 2), [2, 1], True),
        (negative(1, 2), [2], True),
        (negative(1, 2, (3,)), [1, 3, 2], True),
        (negative(1, 2, (3,)), [3, 1, 2], False),
        (negative(1, 2, (3,)), [1, 2, 3], False),
        (Dependency("positive", (1, 3), 2), [1, 3, 2], True),
        (Dependency("positive", (1, 3), 2), [3, 1, 2], False),
        (Dependency("negative", (1, 3), 2), [1, 3, 2], False),
        (Dependency("negative", (1, 3), 2), [3, 1, 2], True),
        (Dependency("negative", (1, 3), 2), [1, 2, 3], True),
        (Dependency("negative", (1, 3), 2, (4,)), [1, 4, 3, 2], False),
        (Dependency("negative", (1, 3), 2, (4,)), [1, 3, 4, 2], True),
    ],
)
def test_an_order_keeps_a_dependency(dependency: Dependency, order: list[int], kept: bool) -> None:
    assert holds(dependency, steps(order)) is kept
