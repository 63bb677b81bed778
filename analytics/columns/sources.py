"""Where numbers come from in an analysis, if an attribute of it is not enough; and the words that codes stand for."""

from typing import TYPE_CHECKING

import numpy as np

from analytics.columns.codec import Column
from analytics.kernel.causes.evidence import Category
from analytics.kernel.executions import Floats, Ints
from analytics.kernel.orders import OrderKind

if TYPE_CHECKING:
    from analytics.kernel.analysis import Analysis

ORDER_KINDS = ("", *(kind.value for kind in OrderKind if kind is not OrderKind.UNKNOWN))
CATEGORIES = tuple(category.value for category in Category)
"""A cause's place is its bit in the column `causes`: append, never reorder."""

PREDICTIONS = ("", "likely", "more runs")
"""Made after the analysis, of its conclusions: `analytics.likeness`."""


def started(found: "Analysis", report: Ints) -> Floats:
    """When reports started, NaN for -1."""
    return np.append(found.window.reports.started, np.nan)[report]


def of_priority(found: "Analysis", items: Column) -> Column:
    """What the list of priorities says of single tests; clusters keep their own."""
    alone = found.priority.test >= 0
    column = np.zeros(len(found.failed.state), dtype=items.dtype)
    column[found.priority.test[alone]] = items[alone]
    return column


def order_kinds(found: "Analysis") -> Column:
    kinds = np.zeros(len(found.failed.state), dtype=np.uint8)
    for finding in found.orders:
        if finding.verdict.kind is not OrderKind.UNKNOWN:
            kinds[finding.place] = ORDER_KINDS.index(finding.verdict.kind.value)
    return kinds


def cause_bits(found: "Analysis") -> Column:
    bits = np.zeros(len(found.failed.state), dtype=np.int64)
    for place, causes in found.causes.items():
        bits[place] = sum(1 << CATEGORIES.index(category) for category in {cause.category.value for cause in causes})
    return bits
