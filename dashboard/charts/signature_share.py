"""What the failures said, over time: bars by signature, so that a new text stands out."""

from dataclasses import dataclass
from datetime import date

from dashboard.charts import labels, palette
from dashboard.charts.figure import Figure, Table, bars, count_axis, day_axis, figure

_MOST = len(palette.SERIES)


@dataclass(frozen=True)
class SignatureCounts:
    label: str
    failures: tuple[int, ...]
    """Failures in each period."""


@dataclass(frozen=True)
class SignatureShare:
    periods: tuple[date, ...]
    """The first day of each."""
    signatures: tuple[SignatureCounts, ...]


def _ranked(data: SignatureShare) -> list[SignatureCounts]:
    """The commonest by name, what is left as one; those that never occurred are left out."""
    found = sorted((one for one in data.signatures if any(one.failures)), key=lambda one: -sum(one.failures))
    rest = found[_MOST:]
    if not rest:
        return found
    sums = tuple(sum(counts) for counts in zip(*(one.failures for one in rest), strict=True))
    return [*found[:_MOST], SignatureCounts(labels.counted(len(rest), "other signature"), sums)]


def chart(data: SignatureShare) -> Figure | None:
    ranked = _ranked(data)
    if not ranked:
        return None
    days = [labels.day(one) for one in data.periods]
    looks = [*palette.SERIES, (palette.OTHER, "")]
    traces = [
        bars(days, one.failures, labels.short(one.label, 44), colour, shape, hovertemplate="%{y:,d} %{fullData.name}")
        for one, (colour, shape) in zip(ranked, looks, strict=False)
    ]
    highest = max(sum(counts) for counts in zip(*(one.failures for one in ranked), strict=True))
    return figure(
        traces,
        height=300 + 22 * len(ranked),
        barmode="stack",
        bargap=0.15,
        legend={"orientation": "v", "traceorder": "normal"},
        xaxis=day_axis(data.periods),
        yaxis=count_axis("failures", highest),
    )


def table(data: SignatureShare) -> Table:
    total = sum(sum(one.failures) for one in data.signatures)
    ranked = sorted(data.signatures, key=lambda one: -sum(one.failures))
    rows = (
        (
            labels.plain(one.label),
            f"{sum(one.failures):,}",
            labels.percent(sum(one.failures) / total if total else None),
            *(f"{count:,}" for count in one.failures),
        )
        for one in ranked
    )
    return Table(("Signature", "Failures", "Share", *(labels.day(one) for one in data.periods)), tuple(rows))
