"""How values look on a page: moments, verdicts, durations, text that programs wrote."""

from datetime import UTC, datetime
from typing import Any

from django import template
from django.forms import BoundField
from django.utils.html import format_html
from django.utils.safestring import SafeString

from dashboard.web.text import without_escapes
from ingest.models import Upload
from ingest.verdict import Verdict

register = template.Library()

_MARK_OF_STATE = {
    Upload.State.RECEIVED: "wait",
    Upload.State.PROCESSING: "work",
    Upload.State.PROCESSED: "pass",
    Upload.State.REJECTED: "fail",
    Upload.State.FAILED: "error",
}


@register.simple_tag
def when(moment: datetime | None) -> SafeString | str:
    """A moment: absolute in UTC, until the script turns it into how long ago."""
    if moment is None:
        return "never"
    utc = moment.astimezone(UTC)
    return format_html(
        '<time datetime="{}" title="{} UTC" data-when>{} UTC</time>',
        utc.isoformat(),
        f"{utc:%Y-%m-%d %H:%M:%S}",
        f"{utc:%Y-%m-%d %H:%M}",
    )


@register.simple_tag
def mark(shape: str, label: str = "") -> SafeString:
    """A shape from the sprite in base.html. Colour is never the only sign, and neither is shape: give a label."""
    hidden = format_html('<span class="visually-hidden">{}</span>', label) if label else ""
    return format_html(
        '<svg class="fb-mark fb-mark-{0}" aria-hidden="true"><use href="#mark-{0}"/></svg>{1}', shape, hidden
    )


@register.simple_tag
def verdict(value: int) -> SafeString:
    name = Verdict(value).name.lower()
    return format_html('<span class="verdict verdict-{}">{} {}</span>', name, mark(name), name)


@register.simple_tag
def upload_state(state: str) -> SafeString:
    shape = _MARK_OF_STATE[Upload.State(state)]
    return format_html('<span class="verdict verdict-{}">{} {}</span>', shape, mark(shape), state)


@register.filter
def verdict_name(value: int) -> str:
    return Verdict(value).name.lower()


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
def control(field: BoundField) -> SafeString:
    """A form field's input in the kit's looks."""
    kind = "form-select" if field.widget_type == "select" else "form-control"
    invalid = " is-invalid" if field.errors else ""
    return field.as_widget(attrs={"class": kind + invalid})
