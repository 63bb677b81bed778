"""A window without the failures inside incidents: the basis of rates and causes.

See docs/concepts.md#how-incidents-are-found."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from analytics.kernel.executions import Executions, Flags, Ints, distinct_per
from analytics.kernel.window import Window


@dataclass(frozen=True, slots=True)
class OutsideIncidents:
    """The window's executions without failures inside incidents; passes inside incidents stay."""

    executions: Executions
    retried: Flags
    signature: npt.NDArray[np.integer]
    """By execution, as in the window."""
    in_incidents: Ints
    """By failing test: failing executions that were removed."""
    incidents: Ints
    """By failing test: the number of incidents (reports) that these were in."""


def outside(window: Window, incident: Flags) -> OutsideIncidents:
    """Remove failures inside incidents (`incident` by report)."""
    every = window.executions
    taken_out = np.asarray(every.failing & incident[every.report])
    if not taken_out.any():
        nothing = np.zeros(every.tests, dtype=np.int64)
        return OutsideIncidents(every, window.retried, window.signature, nothing, nothing)
    count = every.count(taken_out)
    incidents = distinct_per(every.test[taken_out], every.report[taken_out], every.tests)
    kept = ~taken_out
    return OutsideIncidents(every.where(kept), window.retried[kept], window.signature[kept], count, incidents)
