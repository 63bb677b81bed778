"""How often a test fails in random orders, by what is known of its partners."""

from __future__ import annotations

from typing import Any

from flakeboard.detection.findings import BRITTLE, Finding
from flakeboard.orders.outcomes import Brittle, Polluter, Victim
from flakeboard.orders.probability import chance_in_random_order
from flakeboard.orders.suite import Suite


def random_orders(suite: Suite, finding: Finding) -> dict[str, Any] | None:
    """Value and how it was come by; None unless all partners were looked for, since any other would change it."""
    if not finding.is_complete or not finding.groups:
        return None
    if finding.role == BRITTLE:
        dependent: Brittle | Victim = Brittle(finding.test, tuple(group.tests for group in finding.groups))
    else:
        polluters = (Polluter(group.tests, tuple(group.cleaners)) for group in finding.groups)
        dependent = Victim(finding.test, tuple(polluters))
    chance = chance_in_random_order(suite, dependent)
    if chance.interval is None:
        return {"value": str(chance.value), "how": "exact"}
    low, high = chance.interval
    return {"value": float(chance.value), "how": "estimated", "interval": [float(low), float(high)]}
