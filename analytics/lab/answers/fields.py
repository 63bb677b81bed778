"""Fields of an answer that may be hostile: each as agreed, or what stands for nothing."""

from collections.abc import Mapping
from typing import Any

from ingest.redaction import redact

_MOST_COUNT = 10**9
_MOST_SECONDS = 10**6


def rows(value: Any, most: int) -> list[Mapping[str, Any]]:
    return [row for row in value[:most] if isinstance(row, dict)] if isinstance(value, list) else []


def table(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def text(value: Any, longest: int) -> str:
    return redact(value)[:longest] if isinstance(value, str) else ""


def count(value: Any) -> int:
    known = isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= _MOST_COUNT
    return value if known else 0


def seconds(value: Any) -> float | None:
    return _number(value, _MOST_SECONDS)


def share(value: Any) -> float | None:
    return _number(value, 1)


def _number(value: Any, most: float) -> float | None:
    known = isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= most
    return float(value) if known else None
