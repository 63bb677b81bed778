"""How values look on a page: moments, verdicts, states, rates, durations, text that programs wrote."""

from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from functools import cache
from typing import Any

from django import template
from django.forms import BoundField
from django.http import HttpRequest
from django.template.context import RequestContext
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils.html import conditional_escape, escape, format_html, format_html_join
from django.utils.safestring import SafeString, mark_safe

from analytics import wording
from analytics.columns.formulas import where_alone
from analytics.columns.number import Number
from analytics.columns.rows import TestRow, value_of
from analytics.kernel.flakiness import State
from analytics.money import Money
from dashboard.charts.figure import Chart, Links
from dashboard.charts.sparkline import rate_sparkline, verdict_strip
from dashboard.web.ansi import coloured, without_escapes
from dashboard.web.glossary import HELPS, LEGENDS
from ingest.models import Project, Upload
from ingest.verdict import Verdict

register = template.Library()
register.filter("p_value", wording.p_words)

_MARK_OF_STATE = {
    Upload.State.RECEIVED: "wait",
    Upload.State.PROCESSING: "work",
    Upload.State.PROCESSED: "pass",
    Upload.State.REJECTED: "fail",
    Upload.State.FAILED: "error",
}

_KIT_CLASSES = {"select": "form-select", "checkbox": "form-check-input"}
_WHOLE_FROM = 100
"""Amounts of money from here on are shown without decimals."""


@register.simple_tag
def when(moment: datetime | None, clock: bool = False, day: bool = False) -> SafeString | str:
    """A moment in UTC, until the script turns it into how long ago, or into the clock time of the last day. `day`: of
    what is longer ago than a week, the day alone."""
    if moment is None:
        return "never"
    utc = moment.astimezone(UTC)
    exact, kind = f"{utc:%Y-%m-%d %H:%M:%S}", '="clock"' if clock else '="day"' if day else ""
    return SafeString(
        f'<time datetime="{utc.isoformat()}" title="{exact} UTC" data-when{kind}>{exact.rpartition(":")[0]} UTC</time>'
    )


@register.simple_tag
@cache
def mark(shape: str, label: str = "") -> SafeString:
    """A shape from the sprite in base.html. Colour is never the only sign, and neither is shape: give a label."""
    hidden = format_html('<span class="visually-hidden">{}</span>', label) if label else ""
    return format_html(
        '<svg class="fb-mark fb-mark-{0}" aria-hidden="true"><use href="#mark-{0}"/></svg>{1}', shape, hidden
    )


@register.simple_tag
@cache
def verdict(value: int) -> SafeString:
    name = Verdict(value).name.lower()
    return format_html('<span class="verdict verdict-{}">{} {}</span>', name, mark(name), name)


@register.simple_tag
def upload_state(state: str) -> SafeString:
    shape = _MARK_OF_STATE[Upload.State(state)]
    return format_html('<span class="verdict verdict-{}">{} {}</span>', shape, mark(shape), state)


@register.simple_tag
@cache
def state(name: str) -> SafeString:
    """What is concluded of a test: a shape and a word."""
    known = State[name.upper()].name.lower()
    return format_html('<span class="fb-state fb-state-{0}">{1} {0}</span>', known, mark(known))


@register.filter
def duration(seconds: float | None) -> str:
    """Seconds in words of fitting size; nothing where they are not known."""
    if seconds is None:
        return ""
    if seconds < 1:
        return f"{seconds * 1_000:.3g} ms" if seconds < 0.9995 else "1 s"
    if seconds < 60:
        return f"{seconds:.3g} s"
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours:,} h {minutes} min" if hours else f"{minutes} min {rest} s"


@register.filter
def web_address(value: str) -> str:
    """The address where it is one that may be linked to, else nothing: `javascript:` is no build."""
    return value if value.startswith(("http://", "https://")) else ""


@register.filter
def plain(value: Any) -> str:
    """Text as a program wrote it, without its terminal's colours. Still to be escaped, as every text is."""
    return without_escapes(str(value))


@register.filter
def with_code(value: Any) -> SafeString:
    """Text in which names of code stand between backticks, escaped; the names as code."""
    parts = str(escape(without_escapes(str(value)))).split("`")
    closed = len(parts) % 2 == 1
    words = (f"<code>{part}</code>" if place % 2 and closed else part for place, part in enumerate(parts))
    return mark_safe(("" if closed else "`").join(words))  # noqa: S308 - escaped above


@register.filter
def ansi(value: Any) -> SafeString:
    """Text in its terminal's colours, escaped."""
    return coloured(str(value))


@register.filter
def control(field: BoundField) -> SafeString:
    """A form field's input in the kit's looks."""
    kind = _KIT_CLASSES.get(field.widget_type, "form-control")
    invalid = " is-invalid" if field.errors else ""
    return field.as_widget(attrs={"class": kind + invalid})


@register.simple_block_tag
def table(content: SafeString, label: str = "", by: str = "", kind: str = "") -> SafeString:
    """A table that scrolls by itself where it is too wide, by keyboard too; named by a label or by another element."""
    named = format_html('aria-labelledby="{}"', by) if by else format_html('aria-label="{}"', label)
    start = '<div class="table-responsive" tabindex="0" role="region" {}><table class="table{}">'
    return format_html(start + "{}</table></div>", named, f" {kind}" if kind else "", content)


@register.simple_block_tag
def chart(content: SafeString, drawn: Chart, id: str, title: str) -> SafeString:
    """A chart's figure and the same data as a table; the content is its caption."""
    parts = {"figure": drawn.figure, "table": drawn.table, "id": id, "title": title}
    return render_to_string("partials/chart.html", {**parts, "caption": SafeString(content.strip())})


@register.filter
def file_label(name: str) -> str:
    """The end of a path, which is what tells files apart."""
    steps = name.rsplit("/", 2)
    return wording.plain("/".join(steps[-2:]) if len(name) <= 80 else steps[-1])


@register.simple_tag
def table_rows(rows: Sequence[Sequence[str]]) -> SafeString:
    """The body of a chart's table: a page has hundreds of cells, too many for a template's loops."""
    return SafeString("".join(f"<tr>{_cells(row)}</tr>" for row in rows))


def _cells(row: Sequence[str]) -> str:
    first, *others = map(_cell_words, row)
    cells = "".join(f'<td class="fb-text">{words}</td>' for words in others)
    return f'<th scope="row" class="fw-normal fb-text">{first}</th>{cells}'


def _cell_words(cell: str) -> str:
    """With links to what a click on the picture opens."""
    if not isinstance(cell, Links):
        return conditional_escape(cell)
    parts = (
        format_html('<a href="{}">{}</a>', address, words) if address else escape(words)
        for words, address in cell.links
    )
    return ", ".join(parts)


# -- numbers -----------------------------------------------------------------------------------------------------


@register.filter
def percent(share: float | None) -> str:
    """A share in per cent; a dash where there is none."""
    return wording.percent(share)


@register.simple_tag
def share(part: int, whole: int) -> str:
    """A part of a whole in per cent."""
    return wording.percent(part / whole if whole else None)


@register.filter
def spent(minutes: float | None) -> str:
    """Minutes in words of fitting size: "3 h 20 min"."""
    if minutes is None:
        return "–"
    if minutes < 10:
        return f"{minutes * 60:.0f} s" if 0 < minutes < 0.95 else f"{minutes:.2g} min"
    hours, rest = divmod(round(minutes), 60)
    if hours >= 10 or (hours and not rest):
        return f"{minutes / 60:,.0f} h"
    return f"{hours} h {rest} min" if hours else f"{rest} min"


@register.filter
def money(amount: float, currency: str) -> str:
    """An amount with its currency: "9.60 USD", "1,234 USD"."""
    return f"{_amount(amount)} {currency}"


@register.simple_tag
def money_interval(found: Money) -> str:
    """Both ends, below an amount that names the currency."""
    return f"{_amount(found.low)} – {_amount(found.high)}"


def _amount(amount: float) -> str:
    """Two decimals where they say something."""
    return f"{amount:,.2f}" if amount < _WHOLE_FROM else f"{amount:,.0f}"


@register.simple_tag
def interval(low: float | None, high: float | None, unit: str = "%") -> str:
    """Two ends and their unit: "0.6–1.9 %" of shares, "3 h–9 h" of minutes (`unit="spent"`), else "3–9 runs"."""
    if low is None or high is None:
        return "not known"
    if unit == "%":
        return wording.percents(low, high)
    if unit == "spent":
        return f"{spent(low)} – {spent(high)}"
    return f"{low:,.3g}–{high:,.3g} {unit}"


@register.simple_tag
def rate(
    failed: int | None, executed: int | None, low: float | None, high: float | None, top: float | None = 1.0
) -> SafeString | str:
    """ "14 of 1,203 · 1.2 % (0.6–1.9 %)" and the interval as a bar on a scale from nought to `top`."""
    if not executed or failed is None:
        return format_html('<span class="fb-dim">{}</span>', "not executed")
    found = failed / executed
    return format_html(
        '<span class="fb-rate"><span class="fb-nowrap">{} of {} · <strong>{}</strong></span>'
        ' <span class="fb-dim fb-nowrap">({})</span>{}</span>',
        f"{failed:,}",
        f"{executed:,}",
        wording.percent(found),
        interval(low, high),
        _bar(found, low, high, top or 1.0),
    )


def _bar(found: float, low: float | None, high: float | None, top: float) -> SafeString:
    """A line for the interval and a dot for the rate; said in words beside it, so hidden from who hears the page."""
    if low is None or high is None:
        return mark_safe("")
    left, right, at = (3 + 90 * min(max(value / top, 0.0), 1.0) for value in (low, high, found))
    return format_html(
        '<svg class="fb-bar" aria-hidden="true" width="96" height="8" viewBox="0 0 96 8"><path d="M3 4H93"/>'
        '<rect x="{}" y="2.5" width="{}" height="3" rx="1.5"/><circle cx="{}" cy="4" r="3"/></svg>',
        f"{left:.1f}",
        f"{max(right - left, 1):.1f}",
        f"{at:.1f}",
    )


@register.simple_tag
def test_number(project: Project, row: TestRow, number: Number) -> SafeString | str:
    """A number of a test as its table says; where there is none, why, or the cluster that it belongs to."""
    value = value_of(row, number)
    if value is not None:
        return _UNITS.get(number.unit, _plain_number)(value)
    if number.formula is where_alone and row.cluster is not None:
        return format_html('<a href="{}">cluster</a>', reverse("cluster", args=(project.slug, "together", row.cluster)))
    reason = row.reruns.reasons.get(number.name, number.empty)
    return format_html(_NO_NUMBER, reason) if reason else "–"


_NO_NUMBER = '<span class="fb-dim" title="{0}">–<span class="visually-hidden"> {0}</span></span>'
_UNITS: dict[str, Callable[[Any], SafeString | str]] = {"share": percent, "seconds": duration, "minutes": spent}


def _plain_number(value: Any) -> SafeString | str:
    return when(value) if isinstance(value, datetime) else f"{value:,}"


@register.simple_tag
def sparkline(shares: Sequence[float | None], label: str) -> SafeString:
    """A rate over time, the size of a word. The label says what it shows."""
    return mark_safe(rate_sparkline(shares, label))  # noqa: S308 - it escapes the label


@register.simple_tag
def strip(verdicts: Sequence[bool | None], label: str) -> SafeString:
    """The last executions: True passed, False failed, None neither."""
    return mark_safe(verdict_strip(verdicts, label))  # noqa: S308 - it escapes the label


# -- help --------------------------------------------------------------------------------------------------------


@register.simple_tag
def legend(*words: str) -> SafeString:
    """What words on this page mean, in one line each, without a click."""
    lines = format_html_join(" ", "<span><strong>{}</strong>: {}</span>", (LEGENDS[word] for word in words))
    return format_html('<p class="fb-legend">{}</p>', lines)


@register.simple_tag(takes_context=True, name="help")
def help_(context: RequestContext, word: str) -> SafeString:
    return help_button(context.get("request"), word)


def help_button(request: HttpRequest | None, word: str) -> SafeString:
    """A "?" that opens what a word means, without a script. A page has each text once, however many ask for it."""
    meaning, anchor = HELPS[word]
    button = format_html(
        '<button type="button" class="fb-help" popovertarget="help-{0}" aria-label="What does {1} mean?">?</button>',
        word,
        word.replace("_", " "),
    )
    shown: set[str] = request.__dict__.setdefault("helps_shown", set()) if request is not None else set()
    if word in shown:
        return button
    shown.add(word)
    address = f"{reverse('docs', args=('concepts',))}#{anchor}"
    text = '<span class="fb-said" id="help-{}" popover>{} <a href="{}">More</a></span>'
    return format_html("{}{}", button, format_html(text, word, meaning, address))
