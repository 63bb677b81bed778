"""How many of the flaky tests n reruns expose, S(n): what a campaign of reruns is worth."""

from dataclasses import dataclass

from analytics import wording
from dashboard.charts import palette
from dashboard.charts.figure import Figure, Table, figure, horizontal_mark, reruns_axis, scatter, share_axis, thinned


@dataclass(frozen=True)
class ExposureLine:
    """Share of flaky tests that n reruns expose with a chance of at least `chance`."""

    chance: float
    n: tuple[int, ...]
    share: tuple[float, ...]


@dataclass(frozen=True)
class Exposure:
    lines: tuple[ExposureLine, ...]
    tests: int


_LOOKS = ((palette.MAIN, "solid"), (palette.FAILED, "dash"), (palette.INCIDENT, "dot"))


def chart(data: Exposure) -> Figure | None:
    lines = [line for line in data.lines if line.n]
    if not lines or not data.tests:
        return None
    curves = [thinned(line.n, line.share) for line in lines]
    traces = [
        scatter(
            x=n,
            y=share,
            mode="lines",
            name=f"with a chance of {wording.percent(line.chance)}",
            line={"color": colour, "dash": dash, "width": 2.5, "shape": "hv"},
            hovertemplate="%{x:,d} reruns: %{y:.1%}",
        )
        for line, (n, share), (colour, dash) in zip(lines, curves, _LOOKS, strict=False)
    ]
    return figure(
        traces,
        height=340,
        shapes=[horizontal_mark(0.8)],
        xaxis=reruns_axis(max(line.n[-1] for line in lines)),
        yaxis=share_axis(f"share of {wording.counted(data.tests, 'flaky test')} exposed (%)", 1.0),
    )


def table(data: Exposure) -> Table:
    listed = (1, 2, 3, 5, 10, 20, 50, 100, 200, 500, 1_000)
    known = [dict(zip(line.n, line.share, strict=True)) for line in data.lines]
    rows = (
        (f"{n:,}", *(wording.percent(shares.get(n)) for shares in known))
        for n in listed
        if any(n in shares for shares in known)
    )
    return Table(
        ("Reruns", *(f"Exposed with a chance of {wording.percent(line.chance)}" for line in data.lines)), tuple(rows)
    )
