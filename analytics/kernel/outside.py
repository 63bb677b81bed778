"""Section 6, applied: a window without the failures that belong to incidents, which is what rates and causes are of."""

from dataclasses import dataclass

import numpy as np

from analytics.kernel.executions import Executions, Flags, Ints
from analytics.kernel.window import Window


@dataclass(frozen=True, slots=True)
class Outside:
    """The window's executions but for failures inside incidents; a test that passed inside one still passed."""

    executions: Executions
    told: Flags
    signature: Ints
    """By execution, as in the window."""
    in_incidents: Ints
    """By failing test: failing executions that were taken out."""


def outside(window: Window, incident: Flags) -> Outside:
    """`incident` by report."""
    every = window.executions
    taken_out = np.asarray(every.failing & incident[every.report])
    count = every.count(taken_out)
    if not taken_out.any():
        return Outside(every, window.told, window.signature, count)
    return Outside(every.where(~taken_out), window.told[~taken_out], window.signature[~taken_out], count)
