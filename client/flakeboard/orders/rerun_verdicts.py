"""The kind of a flaky test from reruns in fresh environments (Gruber 2021), for client and server alike.

Where a test changes between iterations and in random orders too, FlaPy's code and this say order-dependent; the paper,
read literally, says not deterministic."""

from __future__ import annotations

from functools import reduce
from operator import or_
from typing import Sequence

PASSED, FAILED = 1, 2
"""Bits of how a test ended; FAIL and ERROR fail, SKIP and not run are neither."""
BOTH = PASSED | FAILED

OD, NOD, INFRASTRUCTURE, NOT_FLAKY = "OD", "NOD", "infrastructure", ""


def rerun_kind(same: Sequence[int], random: Sequence[int]) -> str:
    """The kind by the bits of each iteration, in the same order and in random ones.

    Both ways in the same order of one iteration is NOD, whatever random orders say. Both ways in random orders of one
    iteration, or always one way in the same order and the other way in random ones, is OD. The rest changes between
    iterations and never within one."""
    in_same, in_random = reduce(or_, same, 0), reduce(or_, random, 0)
    if in_same | in_random != BOTH:
        return NOT_FLAKY
    if BOTH in same:
        return NOD
    is_opposite = in_same & in_random == 0 and BOTH not in (in_same, in_random)
    return OD if BOTH in random or is_opposite else INFRASTRUCTURE
