"""The answer of `flakeboard verify`: how often a test failed before and after a fix."""

from collections.abc import Mapping
from typing import Any

from analytics.lab.answers.fields import count, share, table, text

OUTCOMES = ("effective", "no effect shown", "not reproduced")
_REVISION = 64


def verification_answer(result: Mapping[str, Any]) -> dict[str, Any]:
    """What is kept of a result. Where the counts are not as agreed there is no outcome: it would rest on nothing."""
    sides = {side: _side(result.get(side)) for side in ("before", "after")}
    outcome, p_value = result.get("outcome"), share(result.get("p"))
    known = outcome in OUTCOMES and p_value is not None and None not in sides.values()
    revisions = table(result.get("revisions"))
    return {
        "outcome": outcome if known else None,
        **{side: counts or {"failed": 0, "runs": 0} for side, counts in sides.items()},
        "p": p_value,
        "smallest_effect": share(result.get("smallest_effect")),
        "revisions": {side: text(revisions.get(side), _REVISION) for side in ("before", "after")},
    }


def _side(value: Any) -> dict[str, int] | None:
    counts = {name: count(table(value).get(name)) for name in ("failed", "runs")}
    return counts if isinstance(value, dict) and counts["failed"] <= counts["runs"] else None
