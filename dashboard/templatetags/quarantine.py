"""How quarantines look on a page."""

from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

from django import template
from django.utils.html import format_html
from django.utils.safestring import SafeString

from dashboard.quarantine.labels.query import TestQuery
from dashboard.quarantine.states import State
from dashboard.templatetags.flakeboard import mark

register = template.Library()

_LOOKS = {
    State.PROPOSED: ("suspect", "suspect"),
    State.ACTIVE: ("skip", "unexecuted"),
    State.RELEASED: ("recovered", "recovered"),
    State.FIXED: ("stable", "stable"),
    State.EXPIRED: ("wait", "suspect"),
    State.REJECTED: ("broken", "unexecuted"),
}
"""State -> its shape, and the look of the badge."""


@register.simple_tag
def quarantine_state(name: str) -> SafeString:
    shape, look = _LOOKS[State(name)]
    return format_html('<span class="fb-state fb-state-{}">{} {}</span>', look, mark(shape), name)


@register.filter
def of(known: Mapping[Any, Any] | None, key: Any) -> Any:
    """What is known of something; nothing where nothing is."""
    return known.get(key) if known else None


@register.filter
def label_query(label: str) -> str:
    """The query of all tests with a label, as part of an address."""
    return quote(str(TestQuery(labels=(label,))), safe="")
