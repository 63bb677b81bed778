"""Arrays as plain values that JSON can hold."""

from math import isfinite
from typing import Any

import numpy as np

from analytics.kernel.executions import Ints

Finding = dict[str, Any]


def number(value: Any) -> Any:
    """A plain JSON number, None where it is not one."""
    plain = value.item() if isinstance(value, np.generic) else value
    return None if isinstance(plain, float) and not isfinite(plain) else plain


def numbers(values: Any) -> list[Any]:
    """The same for many."""
    plain = values.tolist() if isinstance(values, np.ndarray) else list(values)
    return [None if isinstance(one, float) and not isfinite(one) else one for one in plain]


def grouped(owner: Ints, value: Ints) -> dict[int, list[int]]:
    """Values by owner, in their order."""
    at = np.argsort(owner, kind="stable")
    owners, starts = np.unique(owner[at], return_index=True)
    parts = np.split(value[at], starts[1:])
    return {int(one): part.tolist() for one, part in zip(owners, parts, strict=True)} if len(owners) else {}


def rows_of(owner: Ints) -> dict[int, list[int]]:
    return grouped(owner, np.arange(len(owner)))
