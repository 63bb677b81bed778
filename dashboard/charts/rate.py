"""A rate with what it rests on: how many of how many, and the interval."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from analytics import wording


@dataclass(frozen=True)
class Rate:
    """`hits` of `total`, with the ends of the interval; nothing is known where the total is nought."""

    hits: int
    total: int
    low: float
    high: float

    @property
    def share(self) -> float | None:
        return self.hits / self.total if self.total else None

    @property
    def cells(self) -> tuple[str, str, str, str]:
        """For a table: hits, total, share, interval."""
        interval = f"{wording.percent(self.low)} to {wording.percent(self.high)}" if self.total else "–"
        return f"{self.hits:,}", f"{self.total:,}", wording.percent(self.share), interval


def known(rates: Sequence[Rate]) -> bool:
    return any(rate.total for rate in rates)


def highest(rates: Sequence[Rate]) -> float:
    """The upper end of the widest interval that is still worth room: one of n = 1 must not flatten the others."""
    shares = [rate.share for rate in rates if rate.share is not None]
    ends = sorted(rate.high for rate in rates if rate.total)
    usual = ends[(len(ends) - 1) * 9 // 10] if ends else 0.0
    return min(ends[-1], max(2 * usual, 1.4 * max(shares))) if ends else 0.0


def error_bars(rates: Sequence[Rate], colour: str) -> dict[str, Any]:
    """The interval as whiskers to both sides of the share."""
    return {
        "type": "data",
        "array": [rate.high - (rate.share or 0.0) if rate.total else 0 for rate in rates],
        "arrayminus": [(rate.share or 0.0) - rate.low if rate.total else 0 for rate in rates],
        "color": colour,
        "thickness": 1.5,
        "width": 4,
    }


def hover(rate: Rate) -> str:
    hits, total, share, interval = rate.cells
    return f"{hits} of {total}: {share}<br>95 % interval {interval}"
