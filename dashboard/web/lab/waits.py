"""What experiments say of one test's waits and fixes, as pages show it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from analytics.wording import seconds
from dashboard.charts import wait_curve
from dashboard.charts.figure import Chart, draw
from dashboard.charts.rate import Rate
from dashboard.charts.wait_curve import WaitCurve, WaitValue


@dataclass(frozen=True, slots=True)
class MeasuredWait:
    """One time value whose effect was measured."""

    data: Mapping[str, Any]

    @property
    def proposal(self) -> str:
        """What to write in place of the value; empty where it stays."""
        proposal, now = self.data["proposal"], self.data["now"]
        if proposal is None or proposal == now:
            return ""
        if proposal == 0:
            return "Remove it."
        factor = self.data["factor"]
        slower = f": CI is taken to be {factor:g} times as slow as the machine that measured" if factor else ""
        return f"Write {seconds(proposal)} in place of {seconds(now)}{slower}."

    @property
    def polling(self) -> str:
        """When the condition after a sleep began to hold."""
        polled = self.data["polling"]
        if not polled or not polled["runs"] or polled["broke"]:
            return ""
        if polled["median"] is None:
            return f"It held in none of {polled['runs']} runs before the sleep ended."
        never = f", never in {polled['never']}" if polled["never"] else ""
        middle, high, longest = (seconds(polled[name]) for name in ("median", "p99", "longest"))
        return f"It held after {middle}; 99 % of {polled['runs']} runs after {high}, the longest {longest}{never}."

    @property
    def chart(self) -> Chart:
        rows = [
            WaitValue(row["value"], Rate(row["failed"], row["runs"], row["low"], row["high"]), row["median"])
            for row in self.data["table"]
        ]
        return draw(wait_curve, WaitCurve(tuple(rows), self.data["now"], self.data["proposal"]))


def measured_waits(answer: Mapping[str, Any]) -> Sequence[MeasuredWait]:
    """Of an answer as `analytics.lab.answers.waits` keeps it."""
    return [MeasuredWait(row) for row in answer.get("searched", ())]
