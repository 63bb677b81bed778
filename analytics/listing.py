"""Which tests of an analysis, in which order, and which page of them: numpy over its columns, no database.

Pages and API both list tests through here. A column has numbers, and NaN where there is nothing to say."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial

import numpy as np

from analytics.columns import Column, Columns
from analytics.findings.columns import CATEGORIES, ORDER_KINDS
from analytics.kernel.executions import Flags, Ints
from analytics.kernel.flakiness import State
from analytics.kernel.reruns import NEVER

RERUN_STATES = (State.FLAKY, State.SUSPECT, State.RECOVERED)
"""Tests that reruns can tell something of: a broken one fails again, a stable one passes again."""


# -- columns -----------------------------------------------------------------------------------------------------


def values(columns: Columns, name: str) -> Column:
    """A column by name, one value a test; NaN where there is no number."""
    derived = _DERIVED.get(name)
    return columns[name] if derived is None else derived(columns)


def _where(known: Flags, column: Column) -> Column:
    return np.where(known, column, np.nan)


def _ever_failed(columns: Columns) -> Flags:
    """Of other tests nothing is kept besides how often they ran."""
    return np.asarray((columns["failed"] > 0) | (columns["in_incidents"] > 0))


def _of_failed(name: str, columns: Columns) -> Column:
    return _where(_ever_failed(columns), columns[name])


def _share(part: Column, whole: Column) -> Column:
    return np.asarray(np.divide(part, whole, out=np.full(len(whole), np.nan), where=whole > 0))


def _rate(columns: Columns) -> Column:
    return _share(columns["failed"], columns["executed"])


def _again(columns: Columns) -> Column:
    return _share(columns["failed_again"], columns["failed_again"] + columns["cleared"])


def _reruns(name: str, columns: Columns) -> Column:
    told = np.isin(columns["state"], RERUN_STATES) & (columns[name] != NEVER)
    return _where(told, columns[name])


def _alone(name: str, columns: Columns) -> Column:
    """What a cluster costs is the cluster's: it cannot be told which of its tests it is due to."""
    return _where(columns["cluster"] < 0, columns[name])


def _cluster(name: str, columns: Columns) -> Column:
    """What a cluster is called by: the lowest number of its tests. Rows ascend, so that is the first with its label."""
    label = columns[name]
    _, first, at = np.unique(label, return_index=True, return_inverse=True)
    return _where(label >= 0, columns["number"][first][at])


_STORED = (
    *("number", "failed", "executed", "skipped", "low", "high", "in_incidents"),
    *("contradictions", "recoveries", "reversals", "bursts", "longest_burst", "failed_again", "cleared"),
    *("seconds", "last_seen", "last_failure", "flaky_since"),
)
_DERIVED: Mapping[str, Callable[[Columns], Column]] = {
    "rate": _rate,
    "again": _again,
    **{
        name: partial(_of_failed, name)
        for name in ("failed_first", "executed_first", "failed_default", "executed_default", "clean")
    },
    **{name: partial(_reruns, name) for name in ("to_get_past", "to_expose", "to_confirm")},
    **{name: partial(_cluster, name) for name in ("cluster", "signature_cluster")},
    **{name: partial(_alone, name) for name in ("blocked", "cost", "cost_low", "cost_high")},
}
SORTABLE = (*_STORED, *_DERIVED)
"""What tests can be sorted by here; by name the database sorts."""


# -- which tests -------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Choice:
    """Which tests to list; what is left empty leaves none out."""

    states: frozenset[State] = frozenset()
    cause: str = ""
    order_kind: str = ""
    min_executed: int = 0
    numbers: Ints | None = None
    """Only these tests, such as those whose name matches."""


def chosen_rows(columns: Columns, choice: Choice) -> Ints:
    """The rows of the tests that are chosen, ascending."""
    if not len(columns):
        return np.zeros(0, dtype=np.int64)
    kept = columns["executed"] >= choice.min_executed
    if choice.states:
        kept &= np.isin(columns["state"], list(choice.states))
    if choice.cause:
        kept &= (columns["causes"] >> CATEGORIES.index(choice.cause)) & 1 == 1
    if choice.order_kind:
        kept &= columns["order_kind"] == ORDER_KINDS.index(choice.order_kind)
    if choice.numbers is not None:
        kept &= np.isin(columns["number"], choice.numbers)
    return np.flatnonzero(kept)


# -- in which order ----------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Sort:
    by: str = "number"
    descending: bool = False

    @classmethod
    def read(cls, written: str) -> "Sort":
        """`rate` ascends, `-rate` descends."""
        return cls(written.removeprefix("-"), written.startswith("-"))


def sorted_rows(columns: Columns, rows: Ints, sort: Sort) -> Ints:
    """Rows in order; ties by number, and what has no value comes last in both directions."""
    if not len(rows):
        return rows
    key = values(columns, sort.by)[rows].astype(np.float64)
    return rows[np.argsort(-key if sort.descending else key, kind="stable")]


# -- which page --------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Page:
    """A page of a list: its number, from 1, how many are on one, and how many there are in all."""

    number: int
    size: int
    total: int

    @property
    def count(self) -> int:
        """How many pages there are: one at least, which may be empty."""
        return max(-(-self.total // self.size), 1)

    @property
    def exists(self) -> bool:
        return 1 <= self.number <= self.count

    @property
    def start(self) -> int:
        return (self.number - 1) * self.size

    @property
    def span(self) -> slice:
        return slice(self.start, self.start + self.size)
