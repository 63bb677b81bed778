"""How surely n reruns expose one test as flaky, U(n), with the three rerun numbers and what they cost."""

from dataclasses import dataclass

from analytics import wording
from dashboard.charts import palette
from dashboard.charts.figure import (
    Figure,
    Table,
    Trace,
    figure,
    horizontal_mark,
    reruns_axis,
    scatter,
    share_axis,
    thinned,
)


@dataclass(frozen=True)
class RerunNumber:
    """One of the three numbers; None where no number up to the limit is enough."""

    purpose: str
    """ "get past it", "expose it" or "confirm a fix"."""
    reruns: int | None
    seconds: float | None
    """Machine time that so many reruns are expected to take; None where durations are not known."""


@dataclass(frozen=True)
class RerunCurve:
    n: tuple[int, ...]
    exposed: tuple[float, ...]
    confidence: float
    numbers: tuple[RerunNumber, ...]


_LOOKS = ((palette.PASSED, "dash"), (palette.FAILED, "solid"), (palette.INCIDENT, "dot"))


def _words(number: RerunNumber) -> str:
    cost = "" if number.seconds is None else f", {wording.seconds(number.seconds)}"
    return f"{number.purpose}: {number.reruns:,}{cost}"


def _marks(data: RerunCurve) -> list[Trace]:
    """A vertical line for each number; its words are in the legend, where they hide nothing."""
    return [
        scatter(
            x=[number.reruns, number.reruns],
            y=[0, 1.06],
            mode="lines",
            name=_words(number),
            line={"color": colour, "dash": dash, "width": 2},
            hoverinfo="name",
        )
        for number, (colour, dash) in zip(data.numbers, _LOOKS, strict=False)
        if number.reruns is not None
    ]


def chart(data: RerunCurve) -> Figure | None:
    if not data.n:
        return None
    most = max([*data.n, *(number.reruns or 1 for number in data.numbers)])
    n, exposed = thinned(data.n, data.exposed)
    curve = scatter(
        x=n,
        y=exposed,
        mode="lines",
        showlegend=False,
        line={"color": palette.MAIN, "width": 2.5},
        hovertemplate="%{x:,d} reruns: %{y:.1%}<extra></extra>",
    )
    return figure(
        [curve, *_marks(data)],
        height=360,
        shapes=[horizontal_mark(data.confidence)],
        xaxis=reruns_axis(most),
        yaxis=share_axis("chance to see it pass and fail (%)", 1.0),
    )


def table(data: RerunCurve) -> Table:
    """The three numbers first, then the curve at the steps that people ask for."""
    numbers = (
        (
            f"to {number.purpose}",
            "more than the limit" if number.reruns is None else f"{number.reruns:,}",
            wording.seconds(number.seconds),
        )
        for number in data.numbers
    )
    known = dict(zip(data.n, data.exposed, strict=True))
    listed = [n for n in (1, 2, 3, 5, 10, 20, 50, 100, 200, 500, 1_000) if n in known]
    steps = ((f"chance of exposing it by {n:,}", f"{n:,}", wording.percent(known[n])) for n in listed)
    return Table(("What for", "Reruns", "Machine time or chance"), (*numbers, *steps))
