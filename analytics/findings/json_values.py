"""Arrays as plain values for JSON, and as its text where there are many."""

import json
from collections.abc import Mapping, Sequence
from math import isfinite
from typing import Any

import numpy as np

from analytics.kernel.executions import Ints

Finding = dict[str, Any]
encode = json.JSONEncoder(ensure_ascii=False, check_circular=False).encode


def number(value: Any) -> Any:
    """A plain JSON number, or None if it is not finite."""
    plain = value.item() if isinstance(value, np.generic) else value
    return None if isinstance(plain, float) and not isfinite(plain) else plain


def numbers(values: Any) -> list[Any]:
    """The same for many values."""
    if isinstance(values, np.ndarray) and np.isfinite(values).all():
        return values.tolist()
    if isinstance(values, np.ndarray):
        plain = values.astype(object)
        plain[~np.isfinite(values)] = None
        return plain.tolist()
    plain = list(values)
    return [None if isinstance(value, float) and not isfinite(value) else value for value in plain]


def objects(columns: Mapping[str, Sequence[Any]]) -> list[str]:
    """JSON objects with these members, a row each: of finite numbers, None, and text that is JSON already."""
    template = "{" + ", ".join(f'"{name}": %s' for name in columns) + "}"
    values = (["null" if value is None else value for value in column] for column in columns.values())
    return [template % row for row in zip(*values, strict=True)]


def array(items: Sequence[str]) -> str:
    """A JSON array of JSON texts; nothing of none."""
    return f"[{', '.join(items)}]" if items else ""


def grouped(owner: Ints, value: Ints) -> dict[int, list[int]]:
    """Values by owner, in their order."""
    at = np.argsort(owner, kind="stable")
    owners, starts = np.unique(owner[at], return_index=True)
    parts = np.split(value[at], starts[1:])
    return {int(key): part.tolist() for key, part in zip(owners, parts, strict=True)} if len(owners) else {}


def rows_of(owner: Ints) -> dict[int, list[int]]:
    return grouped(owner, np.arange(len(owner)))
