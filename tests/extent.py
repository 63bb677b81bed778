"""How much of the heaviest acceptance runs: a slice of it in `make test`, all of it in `make whole`."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TypeVar

import pytest

Case = TypeVar("Case")
WHOLE = bool(os.environ.get("WHOLE"))
only_whole = pytest.mark.skipif(not WHOLE, reason="a part of `make whole`")
"""For what repeats through real processes what cheaper tests show in parts."""


def slice_of(cases: Sequence[Case], most: int) -> list[Case]:
    """At most so many cases, evenly spaced with the first and the last among them, and the same ones in every run."""
    if WHOLE or len(cases) <= most:
        return list(cases)
    steps = max(most - 1, 1)
    return [cases[place * (len(cases) - 1) // steps] for place in range(most)]


def repeats(usual: int, whole: int) -> int:
    """How often to do the same thing."""
    return whole if WHOLE else usual
