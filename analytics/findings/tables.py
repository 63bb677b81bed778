"""Rows that belong to tests, read a few tests at a time."""

from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from analytics.kernel.executions import Ints

Rows = list[tuple[Any, ...]]


class Table:
    """Columns whose rows each belong to a test; a test's rows keep their order."""

    def __init__(self, test: Ints, *columns: npt.NDArray[Any]) -> None:
        order = np.argsort(test, kind="stable")
        self._test = test[order]
        self._columns = [column[order] for column in columns]

    def of(self, places: range) -> list[Rows]:
        """By test, of neighbouring ones: its rows."""
        bounds = np.searchsorted(self._test, np.arange(places.start, places.stop + 1))
        first, last = int(bounds[0]), int(bounds[-1])
        rows = list(zip(*(column[first:last].tolist() for column in self._columns), strict=True))
        edges = (bounds - first).tolist()
        return [rows[start:stop] for start, stop in pairwise(edges)]
