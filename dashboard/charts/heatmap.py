"""A cluster seen at once: tests down, runs across, and where they failed together."""

from dataclasses import dataclass
from enum import IntEnum
from typing import Any

from analytics import wording
from dashboard.charts import palette
from dashboard.charts.figure import Figure, Table, Trace, figure, heatmap, joined, link, linked, scatter

_MOST_CROSSES = 1_500
"""Cells up to which a failure is also marked by a cross; more of them would be too small to bear one."""


class Cell(IntEnum):
    ABSENT = 0
    PASSED = 1
    FAILED = 2


@dataclass(frozen=True)
class Heatmap:
    tests: tuple[str, ...]
    runs: tuple[str, ...]
    cells: tuple[tuple[Cell, ...], ...]
    """A row for each test, oldest run first."""
    base: str = ""
    """What the address of every cell begins with; empty where cells lead nowhere."""
    run_parts: tuple[str, ...] = ()
    """What follows it for each run,"""
    test_parts: tuple[str, ...] = ()
    """and then for each test."""

    def address(self, test: int, run: int) -> str:
        return f"{self.base}{self.run_parts[run]}{self.test_parts[test]}" if self.base else ""


def _cells(data: Heatmap) -> Trace:
    """Absent cells stay empty; the colours are cut hard between passed and failed."""
    scale = [[0, palette.QUIET], [0.5, palette.QUIET], [0.5, palette.FAILED], [1, palette.FAILED]]
    crosses = {}
    if len(data.tests) * len(data.runs) <= _MOST_CROSSES:
        text = [["×" if cell is Cell.FAILED else "" for cell in row] for row in data.cells]
        crosses = {"text": text, "texttemplate": "%{text}", "textfont": {"color": palette.SURFACE}}
    return heatmap(
        z=[[int(cell) or None for cell in row] for row in data.cells],
        zmin=1,
        zmax=2,
        colorscale=scale,
        showscale=False,
        xgap=1,
        ygap=1,
        hoverongaps=False,
        **({"hoverinfo": "none"} if data.base else {"hoverinfo": "skip"}),
        **crosses,
    )


def _legend() -> list[Trace]:
    looks = (
        ("failed", palette.FAILED, "x"),
        ("passed", palette.QUIET, "square"),
        ("not in the run", palette.TEXT, "square-open"),
    )
    return [
        scatter(x=[None], y=[None], mode="markers", name=name, marker={"color": colour, "symbol": symbol, "size": 11})
        for name, colour, symbol in looks
    ]


def _run_ticks(data: Heatmap) -> dict[str, Any]:
    """At most six run names: the first, the last and some between."""
    step = max((len(data.runs) - 1) / 5, 1)
    places = sorted({round(place * step) for place in range(6) if round(place * step) < len(data.runs)})
    return {"tickvals": places, "ticktext": [wording.short(data.runs[place], 12) for place in places]}


def chart(data: Heatmap) -> Figure | None:
    if not data.tests or not data.runs:
        return None
    names = {
        "tickvals": list(range(len(data.tests))),
        "ticktext": [wording.short(name, 24) for name in data.tests],
        "range": [len(data.tests) - 0.5, -0.5],
    }
    drawn = figure(
        [_cells(data), *_legend()],
        height=max(24 * len(data.tests), 60) + 110,
        xaxis={"showgrid": False, "zeroline": False, **_run_ticks(data)},
        yaxis={"showgrid": False, "zeroline": False, "automargin": True, **names},
    )
    if not data.base:
        return drawn
    return linked(drawn, base=data.base, columns=list(data.run_parts), rows=list(data.test_parts))


def table(data: Heatmap) -> Table:
    """Each test with the runs it failed in: a cell for each run would be no easier to read than the picture."""
    rows = []
    for test, (name, row) in enumerate(zip(data.tests, data.cells, strict=True)):
        failed = [
            link(wording.plain(data.runs[run]), data.address(test, run))
            for run, cell in enumerate(row)
            if cell is Cell.FAILED
        ]
        ran = sum(cell is not Cell.ABSENT for cell in row)
        rows.append((wording.plain(name), f"{len(failed):,}", f"{ran:,}", joined(failed) or "–"))
    return Table(("Test", "Failed", "Runs it was in", "Failed in"), tuple(rows))
