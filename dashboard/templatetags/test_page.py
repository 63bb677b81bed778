"""How a test's page writes p-values."""

from django import template

from dashboard.web.chances import p_words

register = template.Library()
register.filter("p_value", p_words)
