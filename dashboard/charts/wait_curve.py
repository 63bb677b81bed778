"""How often a test fails by the value of one of its waits, how long it takes, and which value is proposed."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import log10

from analytics import wording
from dashboard.charts import palette
from dashboard.charts.figure import Figure, Table, Trace, figure, scatter, share_axis
from dashboard.charts.rate import Rate, error_bars, hover

_BELOW = 3.0
"""Nought has no place on a log axis: it stands so many times below the smallest value."""


@dataclass(frozen=True)
class WaitValue:
    seconds: float
    """The value of the wait."""
    rate: Rate
    took: float | None
    """Seconds of a run that passes, the middle one; None where none passed."""


@dataclass(frozen=True)
class WaitCurve:
    values: tuple[WaitValue, ...]
    """From the smallest on."""
    now: float
    proposal: float | None


def _places(data: WaitCurve) -> dict[float, float]:
    """Value -> its place on the axis."""
    shown = {*(value.seconds for value in data.values), data.now}
    if data.proposal is not None:
        shown.add(data.proposal)
    least = min((seconds for seconds in shown if seconds > 0), default=1.0)
    return {seconds: seconds if seconds > 0 else least / _BELOW for seconds in shown}


def _mark(x: float, name: str, colour: str, dash: str, top: float) -> Trace:
    line = {"color": colour, "dash": dash, "width": 2}
    return scatter(x=[x, x], y=[0, top], mode="lines", name=name, line=line, hoverinfo="name")


def _ticks(places: Sequence[float]) -> list[float]:
    """Values that have room for their words on a phone too: about six of them."""
    apart = max(1.6, (max(places) / min(places)) ** (1 / 5))
    kept: list[float] = []
    for place in sorted(places):
        if not kept or place >= apart * kept[-1]:
            kept.append(place)
    return kept


def chart(data: WaitCurve) -> Figure | None:
    if len(data.values) < 2:
        return None
    places = _places(data)
    x = [places[value.seconds] for value in data.values]
    rates = [value.rate for value in data.values]
    top = min(1.0, max(rate.high for rate in rates)) * 1.06
    failing = scatter(
        x=x,
        y=[rate.share for rate in rates],
        mode="lines+markers",
        name="failing",
        line={"color": palette.FAILED, "width": 2},
        marker={"size": 8},
        error_y=error_bars(rates, palette.FAILED),
        hovertext=[f"{wording.seconds(value.seconds)}<br>{hover(value.rate)}" for value in data.values],
        hoverinfo="text",
    )
    took = scatter(
        x=x,
        y=[value.took for value in data.values],
        yaxis="y2",
        mode="lines+markers",
        name="seconds a run",
        line={"color": palette.MAIN, "width": 2, "dash": "dash"},
        marker={"size": 7, "symbol": "square"},
        hovertemplate="%{y:.3g} s<extra></extra>",
    )
    marks = [_mark(places[data.now], f"now: {wording.seconds(data.now)}", palette.OTHER, "dot", top)]
    if data.proposal is not None:
        words = f"proposed: {wording.seconds(data.proposal)}" if data.proposal else "proposed: none"
        marks.append(_mark(places[data.proposal], words, palette.PASSED, "solid", top))
    words_at = {place: wording.seconds(seconds) for seconds, place in places.items()}
    ticks = _ticks(list(words_at))
    ends = [log10(min(words_at) / 1.3), log10(max(words_at) * 1.3)]
    slowest = max((value.took for value in data.values if value.took is not None), default=1.0)
    return figure(
        [failing, took, *marks],
        height=340,
        xaxis={
            "title": {"text": "value of the wait (log)"},
            "type": "log",
            "range": ends,
            "tickvals": ticks,
            "ticktext": [words_at[place] for place in ticks],
        },
        yaxis=share_axis("failing (%, 95 % interval)", top, range=[-0.015 * top, top]),
        yaxis2={
            "title": {"text": "seconds a run"},
            "overlaying": "y",
            "side": "right",
            "range": [0, 1.06 * slowest or 1],
            "showgrid": False,
            "tickformat": ".2~g",
        },
    )


def table(data: WaitCurve) -> Table:
    headers = ("Value", "Failed", "Runs", "Failing", "95 % interval", "Seconds a run")
    rows = ((wording.seconds(each.seconds), *each.rate.cells, wording.seconds(each.took)) for each in data.values)
    return Table(headers, tuple(rows))
