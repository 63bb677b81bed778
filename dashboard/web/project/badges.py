"""Badges: a number of the project as a small picture, in the looks of shields.io."""

from django.http import Http404, HttpRequest, HttpResponse
from django.utils.html import format_html

from analytics import wording
from analytics.models import Analysis
from analytics.selectors import current_analysis
from dashboard.web.public_access import cached, for_readers
from ingest.models import Project

_GOOD, _FAIR, _POOR, _UNKNOWN = "#00664b", "#8a5a00", "#a83a00", "#55606e"
_FAIR_UP_TO = 0.02
"""More than this share of runs failed by flakiness is poor: Lam6's projects have 5.4 % on average."""
_SIGN, _PAD, _HEIGHT = 6.6, 12, 20
"""A sign of 11 px Verdana is so wide on average; `textLength` makes it true."""


@for_readers
def badge(request: HttpRequest, project: Project, name: str) -> HttpResponse:
    if name not in _BADGES:
        raise Http404
    label, value_of = _BADGES[name]
    analysis = current_analysis(project.pk)

    def make() -> str:
        value, colour = ("no analysis", _UNKNOWN) if analysis is None else value_of(analysis)
        return svg(label, value, colour)

    return cached(request, ("badge", analysis.pk if analysis else None), make, "image/svg+xml")


def _flaky_tests(analysis: Analysis) -> tuple[str, str]:
    count = analysis.summary["states"]["flaky"]
    return f"{count:,}", _FAIR if count else _GOOD


def _flaky_runs(analysis: Analysis) -> tuple[str, str]:
    runs = analysis.summary["runs"]
    if not runs["total"]:
        return "no runs", _UNKNOWN
    share = runs["flaky"] / runs["total"]
    colour = _GOOD if not runs["flaky"] else _FAIR if share <= _FAIR_UP_TO else _POOR
    return f"{wording.percent(share)} of {runs['total']:,}", colour


_BADGES = {"flaky": ("flaky tests", _flaky_tests), "flaky-runs": ("runs failed by flakiness", _flaky_runs)}


def svg(label: str, value: str, colour: str) -> str:
    """The label on grey, the value on its colour; all text escaped."""
    left, right = (round(len(text) * _SIGN) + _PAD for text in (label, value))
    return format_html(
        '<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" role="img" aria-label="{said}">'
        "<title>{said}</title>"
        '<clipPath id="r"><rect width="{width}" height="{height}" rx="3"/></clipPath>'
        '<g clip-path="url(#r)"><rect width="{left}" height="{height}" fill="#444c56"/>'
        '<rect x="{left}" width="{right}" height="{height}" fill="{colour}"/></g>'
        '<g fill="#fff" font-family="Verdana,DejaVu Sans,sans-serif" font-size="11">'
        '<text x="6" y="14" textLength="{left_text}">{label}</text>'
        '<text x="{right_from}" y="14" textLength="{right_text}">{value}</text></g></svg>',
        width=str(left + right),
        height=str(_HEIGHT),
        said=f"{label}: {value}",
        left=str(left),
        right=str(right),
        colour=colour,
        left_text=str(left - _PAD),
        right_text=str(right - _PAD),
        right_from=str(left + 6),
        label=label,
        value=value,
    )
