"""When two roles of a test usually made their calls: in failing runs, and in passing ones."""

from dataclasses import dataclass

from dashboard.charts import palette
from dashboard.charts.figure import Figure, Table, Trace, figure, rows, scatter


@dataclass(frozen=True)
class Span:
    """A call in milliseconds since the test began, by medians."""

    call: str
    role: str
    failed: bool
    begin: float
    end: float

    @property
    def label(self) -> str:
        return f"{'failing' if self.failed else 'passing'}: {self.role}"


@dataclass(frozen=True)
class RoleSpans:
    spans: tuple[Span, ...]


def _ordered(data: RoleSpans) -> list[Span]:
    return sorted(data.spans, key=lambda span: (not span.failed, span.role != "main", span.role))


def _line(span: Span, row: int) -> Trace:
    colour, symbol = (palette.FAILED, "x") if span.failed else (palette.PASSED, "circle-open")
    return scatter(
        x=[span.begin, span.end],
        y=[row, row],
        mode="lines+markers",
        line={"color": colour, "width": 4, "dash": "solid" if span.failed else "dot"},
        marker={"color": colour, "symbol": symbol, "size": 9},
        text=[f"begins at {span.begin:.3g} ms", f"ends at {span.end:.3g} ms"],
        hovertemplate="%{text}<extra></extra>",
    )


def chart(data: RoleSpans) -> Figure | None:
    spans = _ordered(data)
    if not spans:
        return None
    axis = {"title": {"text": "milliseconds since the test began"}, "rangemode": "tozero", "nticks": 6}
    traces = [_line(span, row) for row, span in enumerate(spans)]
    named = rows([span.label for span in spans], lift=14, above=0.6)
    return figure(traces, height=56 * len(spans) + 80, showlegend=False, xaxis=axis, **named)


def table(data: RoleSpans) -> Table:
    headers = ("Runs", "Role", "Call", "Begins (ms)", "Ends (ms)")
    found = (
        ("failing" if span.failed else "passing", span.role, span.call, f"{span.begin:.4g}", f"{span.end:.4g}")
        for span in _ordered(data)
    )
    return Table(headers, tuple(found))
