"""Numbers that are worked out when they are read: from the columns that are stored, NaN where there is no number."""

from collections.abc import Callable

import numpy as np

from analytics.columns.codec import Column, Columns
from analytics.kernel.executions import Flags
from analytics.kernel.flakiness import State
from analytics.kernel.reruns import NEVER

Formula = Callable[[Columns, str], Column]
"""From all columns and the number's name: one value a test."""

RERUN_STATES = (State.FLAKY, State.SUSPECT, State.RECOVERED)
"""States in which reruns tell something: a broken test fails again, a stable one passes again."""


def failure_rate(columns: Columns, name: str) -> Column:
    return _share(columns["failed"], columns["executed"])


def failed_again_rate(columns: Columns, name: str) -> Column:
    return _share(columns["failed_again"], reruns_of_failures(columns, name))


def reruns_of_failures(columns: Columns, name: str) -> Column:
    return np.asarray(columns["failed_again"] + columns["cleared"])


def where_it_failed(columns: Columns, name: str) -> Column:
    """Of a test that never failed, nothing is kept besides how often it ran."""
    return _where((columns["attempts_failed"] > 0) | (columns["in_incidents"] > 0), columns[name])


def where_reruns_help(columns: Columns, name: str) -> Column:
    return _where(np.isin(columns["state"], RERUN_STATES) & (columns[name] != NEVER), columns[name])


def cluster_number(columns: Columns, name: str) -> Column:
    """A cluster is called by the lowest number of its tests. Rows ascend, so that is the first with its label."""
    label = columns[name]
    _, first, at = np.unique(label, return_index=True, return_inverse=True)
    return _where(label >= 0, columns["number"][first][at])


def where_alone(columns: Columns, name: str) -> Column:
    """The cost of a cluster is the cluster's: nobody knows which of its tests it is due to."""
    return _where(columns["cluster"] < 0, columns[name])


def _share(part: Column, whole: Column) -> Column:
    return np.asarray(np.divide(part, whole, out=np.full(len(whole), np.nan), where=whole > 0))


def _where(known: Flags, column: Column) -> Column:
    return np.where(known, column, np.nan)
