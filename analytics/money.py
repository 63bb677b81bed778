"""Costs in money, by the prices that a project set. They are applied when read: no analysis needs to be made anew."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from ingest.models import Project


@dataclass(frozen=True, slots=True)
class Money:
    """A cost with its interval."""

    low: float
    mid: float
    high: float


@dataclass(frozen=True, slots=True)
class Prices:
    failure: float
    """Of a failure that somebody looks into: a blocked run."""
    minute: float
    """Of a machine."""
    currency: str

    def money(self, item: Mapping[str, Any]) -> Money:
        """Of something to fix as it is stored: failures looked into and machine minutes, each end at its price;
        minutes that nobody knows are not in it."""
        ends = (("inspected_low", "machine_low"), ("inspected", "machine_minutes"), ("inspected_high", "machine_high"))
        return Money(
            *(self.failure * item[failures] + self.minute * (item[minutes] or 0.0) for failures, minutes in ends)
        )


def machine_minutes(items: Iterable[Mapping[str, Any]]) -> float | None:
    """Sum the items' known machine minutes; None if some are unknown and the known ones add up to nothing."""
    item_minutes = [item["machine_minutes"] for item in items]
    known = [minutes for minutes in item_minutes if minutes is not None]
    return sum(known) if any(known) or len(known) == len(item_minutes) else None


def prices_of(project: Project) -> Prices:
    return Prices(project.failure_price, project.minute_price, project.currency)
