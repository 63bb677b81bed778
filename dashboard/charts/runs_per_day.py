"""Runs per day by outcome: is it getting better, and was it us, the tests or the machines?"""

from dataclasses import dataclass
from datetime import date

from analytics import wording
from dashboard.charts import palette
from dashboard.charts.figure import Figure, Table, bars, count_axis, day_axis, day_width, figure, link, linked


@dataclass(frozen=True)
class DayOfRuns:
    day: date
    passed: int
    regression: int
    broken: int
    flaky: int
    incident: int

    @property
    def runs(self) -> int:
        return self.passed + self.regression + self.broken + self.flaky + self.incident


@dataclass(frozen=True)
class RunsPerDay:
    days: tuple[DayOfRuns, ...]
    runs_page: str = ""
    """Where a day's runs are listed; empty where nothing can be opened."""

    def address(self, day: date, end: str = "") -> str | None:
        """The runs of a day, or those of them that ended so."""
        only = f"&end={end}" if end else ""
        return f"{self.runs_page}?day={wording.day(day)}{only}" if self.runs_page else None


_PARTS = (
    ("passed", "passed", palette.PASSED, ""),
    ("flaky", "failed only by flakiness", palette.FLAKY, "/"),
    ("regression", "failed by a regression", palette.FAILED, ""),
    ("broken", "broken before", palette.FAILED, "\\"),
    ("incident", "incident", palette.INCIDENT, "x"),
)


_COLUMNS = ("runs", "passed", "flaky", "regression", "broken", "incident")


def chart(data: RunsPerDay) -> Figure | None:
    if not any(day.runs for day in data.days):
        return None
    days = [wording.day(day.day) for day in data.days]
    traces = [
        bars(
            days,
            [getattr(day, part) for day in data.days],
            name,
            colour,
            shape,
            hovertemplate="%{y:,d} %{fullData.name}",
            customdata=[data.address(day.day, part) for day in data.days],
            **day_width(data.days),
        )
        for part, name, colour, shape in _PARTS
    ]
    axis = count_axis("runs per day", max(day.runs for day in data.days))
    drawn = figure(
        traces,
        height=340,
        barmode="stack",
        bargap=0.15,
        hovermode="x unified",
        xaxis=day_axis([day.day for day in data.days]),
        yaxis=axis,
    )
    return linked(drawn) if data.runs_page else drawn


def table(data: RunsPerDay) -> Table:
    headers = (
        "Day",
        "Runs",
        "Passed",
        "Failed only by flakiness",
        "Failed by a regression",
        "Broken before",
        "Incident",
    )
    return Table(
        headers,
        tuple(
            (link(wording.day(day.day), data.address(day.day)), *(_count(data, day, name) for name in _COLUMNS))
            for day in data.days
        ),
    )


def _count(data: RunsPerDay, day: DayOfRuns, name: str) -> str:
    count = getattr(day, name)
    return link(f"{count:,}", data.address(day.day, name) if count and name != "runs" else None)
