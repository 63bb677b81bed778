"""Text in its terminal's colours."""

from typing import Any

from django import template
from django.utils.safestring import SafeString

from dashboard.web.ansi import coloured

register = template.Library()


@register.filter
def ansi(value: Any) -> SafeString:
    return coloured(str(value))
