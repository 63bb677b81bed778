"""Calls in all executions, as arrays of some calls x executions at a time."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from analytics.kernel.differences import calls as c
from analytics.kernel.differences.calls import Column, TracedCalls
from analytics.kernel.differences.limits import MOST_CALLS
from analytics.kernel.differences.matrices import Flags

ROWS = 4_000
"""Calls in memory at once."""
_KINDS = {
    "flags": np.uint8,
    "start": np.int64,
    "took": np.int64,
    "gap": np.int64,
    "values": np.int64,
    "kinds": np.uint8,
    "order": np.int32,
}


@dataclass(frozen=True, slots=True)
class Cells:
    """Some calls in all executions: calls x executions."""

    codes: Column
    flags: Column
    start: Column
    took: Column
    gap: Column
    values: Column
    kinds: Column
    order: Column

    def has(self, flag: int) -> Flags:
        return np.asarray((self.flags & flag) > 0)

    def kept(self, rows: Flags) -> "Cells":
        return Cells(*(getattr(self, name)[rows] for name in self.__slots__))


def batches(executions: Sequence[TracedCalls]) -> Iterator[Cells]:
    """Whole sites, as many as fit."""
    codes = chosen_codes(executions)
    sites = codes >> c.SITE_SHIFT
    begins = np.flatnonzero(np.append(True, sites[1:] != sites[:-1])[: len(sites)]).tolist()
    start = 0
    for begin in [*begins[1:], len(codes)]:
        if begin > start and (begin - start >= ROWS or begin == len(codes)):
            yield _cells(executions, codes[start:begin])
            start = begin


def _cells(executions: Sequence[TracedCalls], codes: Column) -> Cells:
    columns = {name: np.zeros((len(executions), len(codes)), dtype=kind) for name, kind in _KINDS.items()}
    for number, each in enumerate(executions):
        low, high = np.searchsorted(each.codes, [codes[0], codes[-1] + 1])
        places = np.searchsorted(codes, each.codes[low:high])
        is_known = codes[places] == each.codes[low:high]
        for name, column in columns.items():
            column[number, places[is_known]] = getattr(each, name)[low:high][is_known]
    return Cells(codes, *(np.ascontiguousarray(column.T) for column in columns.values()))


def chosen_codes(executions: Sequence[TracedCalls]) -> Column:
    """The calls that are compared, ascending: of too many those that most executions made."""
    codes, counts = np.unique(np.concatenate([each.codes for each in executions]), return_counts=True)
    if len(codes) > MOST_CALLS:
        codes = np.sort(codes[np.argsort(-counts, kind="stable")[:MOST_CALLS]])
    return np.asarray(codes)
