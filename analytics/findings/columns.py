"""Columns of all tests of a window: what lists are sorted and filtered by."""

from typing import Any

import numpy as np

from analytics.columns import Column
from analytics.kernel.analysis import Analysis
from analytics.kernel.causes import Category
from analytics.kernel.orders import OrderKind

ORDER_KINDS = ("", *(kind.value for kind in OrderKind if kind is not OrderKind.UNKNOWN))
CATEGORIES = tuple(category.value for category in Category)
"""A cause's place is its bit in the column `causes`: append, never reorder."""


def columns(found: Analysis) -> dict[str, Column]:
    """One row a test of the window, by number."""
    window, rates = found.window, found.rates
    seen = np.flatnonzero(window.first >= 0)
    started = np.append(window.reports.started, np.nan)
    whole = {
        "state": found.state.astype(np.uint8),
        "failed": rates.failed,
        "executed": rates.executed,
        "skipped": window.skipped,
        "low": rates.low,
        "high": rates.high,
        "seconds": window.seconds,
        "last_seen": started[window.last],
    }
    by_number = {name: column[seen] for name, column in whole.items()}
    place_of = np.searchsorted(seen, window.failing)
    for name, (column, nothing) in _of_failed(found).items():
        full = np.full(len(seen), nothing, dtype=column.dtype)
        full[place_of] = column
        by_number[name] = full
    return {"number": seen, **{name: _small(column) for name, column in by_number.items()}}


def _of_failed(found: Analysis) -> dict[str, tuple[Column, Any]]:
    """Columns by place, and what stands in them for a test that never failed."""
    failed, started = found.failed, np.append(found.window.reports.started, np.nan)
    cost = np.zeros((4, len(failed.state)))
    for place, items in enumerate(
        (found.priority.cost, found.priority.low, found.priority.high, found.priority.blocked)
    ):
        alone = found.priority.test >= 0
        cost[place, found.priority.test[alone]] = items[alone]
    kind = np.zeros(len(failed.state), dtype=np.uint8)
    for finding in found.orders:
        if finding.verdict.kind is not OrderKind.UNKNOWN:
            kind[finding.place] = ORDER_KINDS.index(finding.verdict.kind.value)
    causes = np.zeros(len(failed.state), dtype=np.int64)
    for place, mine in found.causes.items():
        causes[place] = sum(1 << CATEGORIES.index(cause.category.value) for cause in mine)
    zero = {
        "failed_first": failed.first_attempts.failed,
        "executed_first": failed.first_attempts.executed,
        "failed_default": failed.default_branch.failed,
        "executed_default": failed.default_branch.executed,
        "in_incidents": failed.in_incidents,
        "contradictions": failed.evidence.contradictions,
        "recoveries": failed.evidence.recoveries,
        "reversals": failed.evidence.reversals,
        "bursts": failed.bursts.count,
        "longest_burst": failed.bursts.longest,
        "failed_again": failed.bursts.again,
        "cleared": failed.bursts.cleared,
        "to_get_past": failed.to_get_past,
        "to_expose": failed.to_expose,
        "to_confirm": failed.to_confirm,
        "clean": failed.streaks.clean,
        "order_kind": kind,
        "causes": causes,
        "blocked": cost[3].astype(np.int64),
        "cost": cost[0],
        "cost_low": cost[1],
        "cost_high": cost[2],
    }
    moments = {
        "last_failure": started[failed.onsets.last_failure],
        "flaky_since": started[failed.onsets.first],
    }
    labels = {"cluster": found.clusters.label, "signature_cluster": found.by_signature}
    return (
        {name: (column, 0) for name, column in zero.items()}
        | {name: (column, np.nan) for name, column in moments.items()}
        | {name: (column, -1) for name, column in labels.items()}
    )


def _small(column: Column) -> Column:
    """Half the bytes where nothing is lost that a page would show: moments alone keep their precision."""
    if column.dtype == np.float64:
        return column if column.size and np.nanmax(column, initial=0.0) > 1e8 else column.astype(np.float32)
    if column.dtype == np.int64 and (not column.size or column.max() < 2**31):
        return column.astype(np.int32)
    return column
