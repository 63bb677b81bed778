"""How often known flaky tests fail: 416 of 14 projects, each run up to 10,000 times (FlakeFlagger's data)."""

import numpy as np

from analytics.kernel.executions import Floats

_COUNTED = (
    (1, 49),
    (2, 6),
    (3, 7),
    (4, 5),
    (5, 4),
    (6, 6),
    (7, 10),
    (8, 3),
    (10, 9),
    (11, 5),
    (12, 3),
    (13, 3),
    (14, 1),
    (15, 2),
    (17, 2),
    (18, 1),
    (20, 1),
    (24, 1),
    (27, 1),
    (29, 1),
    (33, 1),
    (41, 1),
    (42, 1),
    (43, 31),
    (46, 2),
    (47, 2),
    (49, 1),
    (62, 1),
    (76, 10),
    (119.28, 1),
    (144.94, 55),
    (145.93, 8),
    (146.93, 3),
    (147.92, 1),
    (150.85, 23),
    (151.85, 1),
    (151.89, 1),
    (155.86, 2),
    (156, 2),
    (161.82, 1),
    (162.76, 1),
    (162.81, 1),
    (163.8, 1),
    (169.76, 1),
    (172.74, 1),
    (174.72, 1),
    (186.64, 1),
    (204.99, 1),
    (245, 12),
    (246, 1),
    (282.93, 1),
    (288, 1),
    (308.75, 1),
    (311.72, 1),
    (322, 1),
    (382, 1),
    (411, 1),
    (932, 1),
    (974, 1),
    (4487, 1),
    (5169.23, 1),
    (5512, 11),
    (5513, 1),
    (5520, 1),
    (5522, 1),
    (5526, 2),
    (5527, 1),
    (5534, 1),
    (5540, 97),
    (8849, 1),
)
"""Failures in 10,000 runs, and how many tests have that rate."""


def published_rates() -> tuple[Floats, Floats]:
    """Each rate, and its share of the tests."""
    rates, counts = (np.array(column, dtype=np.float64) for column in zip(*_COUNTED, strict=True))
    return rates / 10_000, counts / counts.sum()


_EVEN = 0.25
"""The share of rates that may be anything. By the published ones alone, of which half are below 1.5 %, the next
execution of a short test is worth as much as the one before, and long tests would hardly be run at all."""


def planned_rates() -> tuple[Floats, Floats]:
    """What a project without rates of its own plans with: the published ones, and some that are spread evenly."""
    rates, weights = published_rates()
    even = (np.arange(20) + 0.5) / 20
    return np.concatenate([rates, even]), np.concatenate([weights * (1 - _EVEN), np.full(len(even), _EVEN / len(even))])
