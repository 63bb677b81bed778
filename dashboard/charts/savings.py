"""What fixing the top k would save: the share of blocked runs that would have passed."""

from dataclasses import dataclass

from analytics import wording
from dashboard.charts import palette
from dashboard.charts.figure import Figure, Table, figure, horizontal_mark, link, linked, note, scatter, share_axis


@dataclass(frozen=True)
class Fix:
    """One more cluster or test mended: how many blocked runs are saved by now, with the interval's ends."""

    label: str
    saved: int
    low: float
    high: float
    address: str = ""
    """Its page."""


@dataclass(frozen=True)
class Savings:
    fixes: tuple[Fix, ...]
    blocked: int


def _enough(data: Savings, share: float) -> int | None:
    """The least k that saves this share."""
    return next((k for k, fix in enumerate(data.fixes, start=1) if fix.saved >= share * data.blocked), None)


def chart(data: Savings) -> Figure | None:
    if not data.fixes or not data.blocked:
        return None
    k = list(range(len(data.fixes) + 1))
    line = {"mode": "lines", "line": {"width": 0}, "hoverinfo": "skip"}
    high = scatter(x=k, y=[0.0, *(fix.high / data.blocked for fix in data.fixes)], showlegend=False, **line)
    low = scatter(
        x=k,
        y=[0.0, *(fix.low / data.blocked for fix in data.fixes)],
        fill="tonexty",
        fillcolor=palette.BAND,
        name="95 % interval",
        **line,
    )
    names = ["nothing fixed", *(wording.escaped(fix.label) for fix in data.fixes)]
    saved = scatter(
        x=k,
        y=[0.0, *(fix.saved / data.blocked for fix in data.fixes)],
        mode="lines+markers",
        name="blocked runs saved",
        line={"color": palette.MAIN, "width": 2.5},
        marker={"size": 6},
        text=names,
        customdata=[None, *(fix.address or None for fix in data.fixes)],
        hovertemplate="fix the top %{x}: %{y:.1%}<br>the last of them: %{text}<extra></extra>",
    )
    drawn = figure(
        [high, low, saved],
        height=340,
        xaxis={
            "title": {"text": "problems fixed, most expensive first"},
            "nticks": 10,
            "tickformat": ",d",
            "rangemode": "tozero",
        },
        yaxis=share_axis("blocked runs saved (%)", 1.0),
        **_mark(data),
    )
    return linked(drawn) if any(fix.address for fix in data.fixes) else drawn


def _mark(data: Savings) -> dict[str, list[dict[str, object]]]:
    """How many fixes save four fifths, or what all of them save: the answer that most come for."""
    k = _enough(data, 0.8) or len(data.fixes)
    share = wording.percent(min(0.8, data.fixes[-1].saved / data.blocked))
    verb = "saves" if k == 1 else "save"
    words = f"{wording.counted(k, 'fix', 'fixes')} {verb} {share} of {wording.counted(data.blocked, 'blocked run')}"
    place = note(words, 1, 0.06, xref="paper", yref="paper", xanchor="right")
    return {"shapes": [horizontal_mark(0.8)], "annotations": [place]}


def table(data: Savings) -> Table:
    rows = (
        (
            f"{k}",
            link(wording.plain(fix.label), fix.address),
            f"{fix.saved:,}",
            wording.percent(fix.saved / data.blocked),
            _interval(data, fix),
        )
        for k, fix in enumerate(data.fixes if data.blocked else (), start=1)
    )
    return Table(("Fixed", "The last of them", "Runs saved", "Share of blocked runs", "95 % interval"), tuple(rows))


def _interval(data: Savings, fix: Fix) -> str:
    return f"{wording.percent(fix.low / data.blocked)} to {wording.percent(fix.high / data.blocked)}"
