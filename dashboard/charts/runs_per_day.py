"""Runs per day by outcome: is it getting better, and was it us, the tests or the machines?"""

from dataclasses import dataclass
from datetime import date

from dashboard.charts import labels, palette
from dashboard.charts.figure import Figure, Table, bars, count_axis, day_axis, figure


@dataclass(frozen=True)
class DayOfRuns:
    day: date
    passed: int
    regression: int
    flaky: int
    incident: int

    @property
    def runs(self) -> int:
        return self.passed + self.regression + self.flaky + self.incident


@dataclass(frozen=True)
class RunsPerDay:
    days: tuple[DayOfRuns, ...]


_PARTS = (
    ("passed", "passed", palette.PASSED, ""),
    ("flaky", "failed only by flakiness", palette.FLAKY, "/"),
    ("regression", "failed by a regression", palette.FAILED, ""),
    ("incident", "incident", palette.INCIDENT, "x"),
)


def chart(data: RunsPerDay) -> Figure | None:
    if not any(day.runs for day in data.days):
        return None
    days = [labels.day(day.day) for day in data.days]
    traces = [
        bars(
            days,
            [getattr(day, part) for day in data.days],
            name,
            colour,
            shape,
            hovertemplate="%{y:,d} %{fullData.name}",
        )
        for part, name, colour, shape in _PARTS
    ]
    axis = count_axis("runs per day", max(day.runs for day in data.days))
    return figure(
        traces,
        height=340,
        barmode="stack",
        bargap=0.15,
        hovermode="x unified",
        xaxis=day_axis([day.day for day in data.days]),
        yaxis=axis,
    )


def table(data: RunsPerDay) -> Table:
    headers = ("Day", "Runs", "Passed", "Failed only by flakiness", "Failed by a regression", "Incident")
    return Table(
        headers,
        tuple(
            (labels.day(day.day), *(f"{n:,}" for n in (day.runs, day.passed, day.flaky, day.regression, day.incident)))
            for day in data.days
        ),
    )
