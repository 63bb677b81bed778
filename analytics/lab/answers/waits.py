"""The answer of `flakeboard waits`: the time values of a test, and how its failing share depends on those varied."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from analytics.kernel.rates import clopper_pearson
from analytics.lab.answers.fields import count, rows, seconds, table, text

KINDS = ("sleep", "timeout", "interval")
VERDICTS = ("no effect", "smaller", "needed", "raise", "no help", "open")
_VALUES = 100
_SEARCHED = 10
_ROWS = 50
_NAME = 512
_SENTENCE = 1_000
_PASTED = 4_000
_CONFIDENCE = 0.95


def waits_answer(result: Mapping[str, Any]) -> dict[str, Any]:
    """What is kept of a result; what is not as agreed is left out."""
    searched = (_searched(row) for row in rows(result.get("searched"), _SEARCHED))
    return {
        "runs": count(result.get("runs")),
        "searched": [row for row in searched if row is not None],
        "values": [_value(row) for row in rows(result.get("values"), _VALUES)],
    }


def _value(row: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "place": text(row.get("place"), _NAME),
        "callee": text(row.get("callee"), _NAME),
        "kind": row.get("kind") if row.get("kind") in KINDS else KINDS[1],
        "value": seconds(row.get("value")),
        "origin": text(row.get("origin"), _NAME),
        "seconds": seconds(row.get("seconds")),
        "can_vary": row.get("can_vary") is True,
        "reason": text(row.get("reason"), _NAME),
    }


def _searched(row: Mapping[str, Any]) -> dict[str, Any] | None:
    now = seconds(row.get("now"))
    if now is None or row.get("kind") not in KINDS or row.get("verdict") not in VERDICTS:
        return None
    tried = [measured for inner in rows(row.get("table"), _ROWS) if (measured := _row(inner)) is not None]
    return {
        "place": text(row.get("place"), _NAME),
        "callee": text(row.get("callee"), _NAME),
        "kind": row["kind"],
        "now": now,
        "verdict": row["verdict"],
        "sentence": text(row.get("sentence"), _SENTENCE),
        "table": sorted(tried, key=lambda each: each["value"]),
        "smallest_good": seconds(row.get("smallest_good")),
        "proposal": seconds(row.get("proposal")),
        "factor": seconds(row.get("factor")),
        "polling": _polling(row.get("polling")),
    }


def _row(row: Mapping[str, Any]) -> dict[str, Any] | None:
    """One value; its interval is ours, made of its counts."""
    value, runs, failed = seconds(row.get("value")), count(row.get("runs")), count(row.get("failed"))
    if value is None or not runs or failed > runs:
        return None
    low, high = clopper_pearson(np.array([failed]), np.array([runs]), _CONFIDENCE)
    times = {name: seconds(row.get(name)) for name in ("mean", "median")}
    return {"value": value, "failed": failed, "runs": runs, "low": float(low[0]), "high": float(high[0]), **times}


def _polling(value: Any) -> dict[str, Any] | None:
    if not isinstance(value, dict):
        return None
    polled = table(value)
    return {
        "condition": text(polled.get("condition"), _NAME),
        "runs": count(polled.get("runs")),
        "never": count(polled.get("never")),
        "broke": text(polled.get("broke"), _NAME),
        **{name: seconds(polled.get(name)) for name in ("median", "p99", "longest", "deadline")},
        "text": text(polled.get("text"), _PASTED),
    }
