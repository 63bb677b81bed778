"""One row a test, many columns, stored as one value: numpy's own archive of arrays, read a column at a time."""

import io
from collections.abc import Iterable, Mapping
from datetime import datetime
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from analytics.models import Analysis

Column = npt.NDArray[Any]


def encode_columns(columns: Mapping[str, Column]) -> bytes:
    stored = io.BytesIO()
    np.savez(stored, allow_pickle=False, **columns)
    return stored.getvalue()


class Columns:
    """The tests of an analysis. Rows are ascending by test number."""

    def __init__(self, stored: bytes) -> None:
        self._archive = np.load(io.BytesIO(stored), allow_pickle=False) if stored else {}
        self._read: dict[str, Column] = {}

    def __contains__(self, name: str) -> bool:
        return name in self._archive

    def __getitem__(self, name: str) -> Column:
        if name not in self._read:
            self._read[name] = self._archive[name]
        return self._read[name]

    def __len__(self) -> int:
        return len(self["number"]) if "number" in self else 0

    def row(self, number: int) -> int | None:
        """The row of a test; None where the window does not know it."""
        if not len(self):
            return None
        at = int(np.searchsorted(self["number"], number))
        return at if at < len(self) and self["number"][at] == number else None

    def rows(self, numbers: Iterable[int]) -> dict[int, int]:
        return {number: row for number in numbers if (row := self.row(number)) is not None}


class Retired(Exception):
    """The analysis was replaced a moment ago: its columns are gone. Ask for the current one again."""


def columns_of(analysis: Analysis) -> Columns:
    """The columns of an analysis, which never change; the last used ones are kept in memory."""
    return _columns(analysis.pk, analysis.started_at)


@lru_cache(maxsize=16)
def _columns(analysis_id: int, started_at: datetime) -> Columns:
    """An id alone is not enough: after a failover that lost the newest rows, another analysis gets it."""
    found = Analysis.objects.filter(pk=analysis_id, started_at=started_at, current=True)
    stored = found.values_list("columns", flat=True).first()
    if stored is None:
        raise Retired
    return Columns(bytes(stored))
