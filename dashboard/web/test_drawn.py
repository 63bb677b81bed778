"""A chart as a test's page shows it: the picture, in the height that there is room for, and the same as a table."""

from dataclasses import dataclass
from types import ModuleType
from typing import Any

from dashboard.charts.figure import Figure, Table


@dataclass(frozen=True, slots=True)
class Drawn:
    """A chart as partials/chart.html takes it."""

    figure: Figure | None
    table: Table


def drawn(module: ModuleType, data: Any, height: int | None = None) -> Drawn:
    figure = module.chart(data)
    if figure is not None and height is not None:
        figure["layout"]["height"] = height
    return Drawn(figure, module.table(data))
