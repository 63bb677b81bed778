"""The part of a test's page on the values that its assertions compare, and on bounds that hold."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from analytics.kernel.tails.samples import TOO_FEW
from analytics.lab.names import node_id_of
from analytics.values.answers import report_since
from analytics.values.sentences import TAILS, number, one_in
from analytics.values.series import series_of_test
from analytics.wording import counted
from dashboard.charts import value_tail
from dashboard.charts.figure import Chart, draw
from dashboard.charts.value_tail import ValueTail
from dashboard.web.test.sections import MEASURED_CAUSES, Section
from ingest.lab.values import floats
from ingest.models import Test, ValueSeries

_SHOWN = 5
_CHARTS = 2


@dataclass(frozen=True, slots=True)
class SiteValues:
    """One assertion in one environment."""

    row: ValueSeries
    chart: Chart | None

    @property
    def answer(self) -> dict[str, Any]:
        return self.row.answer

    @property
    def where(self) -> str:
        return f"{self.row.file}:{self.row.line}"

    @property
    def compared(self) -> str:
        kind, bound = self.answer.get("kind", self.row.kind), self.answer.get("bound")
        what = {"share": "share of its tolerance ", "difference": "difference to its bound "}.get(kind, "")
        return f"{what}{self.row.op} {number(bound)}"

    @property
    def tail(self) -> str:
        return TAILS.get(self.answer.get("tail", ""), "")

    @property
    def since(self) -> int | None:
        return report_since(self.row, self.answer.get("start", 0))

    @property
    def ladder(self) -> str:
        rungs = [rung for rung in self.answer.get("ladder", ()) if rung["bound"] is not None]
        return ", ".join(f"{one_in(rung['tolerated'])} runs: {rung['bound']:.4g}" for rung in rungs)

    @property
    def chart_id(self) -> str:
        return f"values-chart-{self.row.pk}"


def value_section(test: Test, causes: frozenset[str]) -> Section | None:
    """The section; None for a test that has no values and no cause that asks for them."""
    rows = _without_repetitions(series_of_test(test))
    if not rows and not causes & MEASURED_CAUSES:
        return None
    rows.sort(key=lambda row: (row.origin != ValueSeries.Origin.BOUNDS, -_share(row), row.pk))
    shown = [SiteValues(row, _chart(row) if place < _CHARTS else None) for place, row in enumerate(rows[:_SHOWN])]
    name = node_id_of(test.test_name)
    part = {
        "sites": shown,
        "more": len(rows) - len(shown),
        "command": f"flakeboard bounds {name}" if name else "",
    }
    return Section("values", "Values", _fact(rows), part, open=bool(rows))


def _without_repetitions(rows: list[ValueSeries]) -> list[ValueSeries]:
    """Without what CI sent of an assertion as long as that is too little, if an experiment has measured it there."""

    def place(row: ValueSeries) -> tuple[str, int, int, str]:
        return row.file, row.line, row.ordinal, row.environment

    measured = {place(row) for row in rows if row.origin == ValueSeries.Origin.BOUNDS}
    return [
        row
        for row in rows
        if row.origin == ValueSeries.Origin.BOUNDS
        or place(row) not in measured
        or row.answer.get("obstacle", TOO_FEW) != TOO_FEW
    ]


def _fact(rows: list[ValueSeries]) -> str:
    if not rows:
        return "none recorded yet"
    return counted(len({(row.file, row.line, row.ordinal) for row in rows}), "assertion")


def _share(row: ValueSeries) -> float:
    present = row.answer.get("present")
    return float(present["share"]) if present else 0.0


def _chart(row: ValueSeries) -> Chart | None:
    answer = row.answer
    if not answer or answer["obstacle"]:
        return None
    values, bounds = floats(row.values)[answer["start"] :], floats(row.bounds)[answer["start"] :]
    if answer["kind"] == "difference" and row.kind != "difference":
        values = values - bounds
    curve = answer["curve"] or {"x": (), "share": (), "low": (), "high": ()}
    wanted = answer["proposal"]["bound"]
    data = ValueTail(
        values=tuple(values[np.isfinite(values)].tolist()),
        bound=answer["bound"],
        proposed=wanted if answer["proposal"]["word"] == "write" else None,
        is_lower=row.op.startswith(">"),
        **{name: tuple(curve[name]) for name in ("x", "share", "low", "high")},
    )
    return draw(value_tail, data)
