"""How many retries should CI make: the share of flaky failures they clear against the machine minutes they cost."""

from dataclasses import dataclass
from typing import Any

from analytics import wording
from dashboard.charts import palette
from dashboard.charts.figure import Figure, Table, figure, note, scatter, share_axis
from dashboard.charts.rate import Rate, error_bars, hover


@dataclass(frozen=True)
class RetryStep:
    """Up to n retries: how many flaky failures they clear, and what they cost in the window."""

    n: int
    cleared: Rate
    minutes: float | None
    """None where no duration is known."""


@dataclass(frozen=True)
class Retries:
    steps: tuple[RetryStep, ...]
    recommended: int | None = None


def _steps(data: Retries) -> list[RetryStep]:
    return [step for step in data.steps if step.cleared.total]


def _floor(steps: list[RetryStep]) -> float:
    """Where the axis starts: under the lowest interval, with room for a sentence; dots, unlike bars, need no nought."""
    lowest = min(step.cleared.low for step in steps)
    return max(lowest - 0.35 * (1 - lowest) - 0.02, 0.0)


def _recommendation(step: RetryStep) -> dict[str, Any]:
    words = (
        f"◆ recommended: {wording.counted(step.n, 'retry', 'retries')}, {wording.percent(step.cleared.share)} cleared"
    )
    return note(words, 1, 0.06, xref="paper", yref="paper", xanchor="right")


_TIME = "machine time of the retries (minutes)"


def chart(data: Retries) -> Figure | None:
    steps = _steps(data)
    if not steps:
        return None
    best = [step for step in steps if step.n == data.recommended]
    timed = all(step.minutes is not None for step in steps)
    line = scatter(
        x=[step.minutes if timed else step.n for step in steps],
        y=[step.cleared.share for step in steps],
        mode="lines+markers+text",
        text=[str(step.n) for step in steps],
        textposition="bottom right",
        cliponaxis=False,
        line={"color": palette.MAIN, "width": 2},
        marker={
            "size": [13 if step in best else 8 for step in steps],
            "symbol": ["diamond" if step in best else "circle" for step in steps],
        },
        error_y=error_bars([step.cleared for step in steps], palette.MAIN),
        hovertext=[f"{_step_label(step)}<br>{hover(step.cleared)}" for step in steps],
        hoverinfo="text",
    )
    return figure(
        [line],
        height=360,
        showlegend=False,
        annotations=[_recommendation(step) for step in best],
        xaxis={"title": {"text": _TIME if timed else "retries (time unknown)"}, "rangemode": "tozero", "nticks": 8},
        yaxis=share_axis("flaky failures cleared by n retries (%)", 1.0, range=[_floor(steps), 1.03]),
    )


def table(data: Retries) -> Table:
    headers = ("Retries", "Failures cleared", "Flaky failures", "Share cleared", "95 % interval", "Machine minutes", "")
    rows = (
        (f"{step.n}", *step.cleared.cells, _minutes(step.minutes), "recommended" if step.n == data.recommended else "")
        for step in _steps(data)
    )
    return Table(headers, tuple(rows))


def _minutes(minutes: float | None) -> str:
    return "time unknown" if minutes is None else f"{minutes:,.1f}"


def _step_label(step: RetryStep) -> str:
    minutes = _minutes(step.minutes) + ("" if step.minutes is None else " min")
    return f"{wording.counted(step.n, 'retry', 'retries')}, {minutes}"
