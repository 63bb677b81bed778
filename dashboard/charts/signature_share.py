"""What the failures said, over time: bars by signature, so that a new text stands out."""

from dataclasses import dataclass
from datetime import date

from analytics import wording
from dashboard.charts import palette
from dashboard.charts.figure import Figure, Table, bars, count_axis, day_axis, figure, link, linked

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
    addresses: tuple[str, ...] = ()
    """Where the failures of each period are listed; empty where they are not."""


def _ranked(data: SignatureShare) -> list[SignatureCounts]:
    """The commonest signatures, and all others summed into one; signatures without failures are left out."""
    found = sorted(
        (signature for signature in data.signatures if any(signature.failures)),
        key=lambda signature: -sum(signature.failures),
    )
    rest = found[_MOST:]
    if not rest:
        return found
    sums = tuple(sum(counts) for counts in zip(*(signature.failures for signature in rest), strict=True))
    return [*found[:_MOST], SignatureCounts(wording.counted(len(rest), "other signature"), sums)]


def chart(data: SignatureShare) -> Figure | None:
    ranked = _ranked(data)
    if not ranked:
        return None
    days = [wording.day(period) for period in data.periods]
    looks = [*palette.SERIES, (palette.OTHER, "")]
    traces = [
        bars(
            days,
            signature.failures,
            wording.short(signature.label, 44),
            colour,
            shape,
            hovertemplate="%{y:,d} %{fullData.name}",
            customdata=list(data.addresses),
        )
        for signature, (colour, shape) in zip(ranked, looks, strict=False)
    ]
    highest = max(sum(counts) for counts in zip(*(signature.failures for signature in ranked), strict=True))
    drawn = figure(
        traces,
        height=300 + 22 * len(ranked),
        barmode="stack",
        bargap=0.15,
        legend={"orientation": "v", "traceorder": "normal"},
        xaxis=day_axis(data.periods),
        yaxis=count_axis("failures", highest),
    )
    return linked(drawn) if data.addresses else drawn


def table(data: SignatureShare) -> Table:
    total = sum(sum(signature.failures) for signature in data.signatures)
    ranked = sorted(data.signatures, key=lambda signature: -sum(signature.failures))
    where = data.addresses or ("",) * len(data.periods)
    rows = (
        (
            wording.plain(signature.label),
            f"{sum(signature.failures):,}",
            wording.percent(sum(signature.failures) / total if total else None),
            *(
                link(f"{count:,}", address if count else "")
                for count, address in zip(signature.failures, where, strict=True)
            ),
        )
        for signature in ranked
    )
    return Table(("Signature", "Failures", "Share", *(wording.day(period) for period in data.periods)), tuple(rows))
