"""The navigation above the pages of a project."""

from collections.abc import Sequence

from django import template
from django.contrib.auth.models import AnonymousUser
from django.template import RequestContext

from dashboard.web.navigation import NavigationLink, navigation

register = template.Library()


@register.simple_tag(takes_context=True, name="navigation")
def navigation_(context: RequestContext) -> Sequence[NavigationLink]:
    """Of the page's project, for whoever looks at it."""
    request = context["request"]
    match = request.resolver_match
    return navigation(context.get("user") or AnonymousUser(), context["project"], match.url_name or "" if match else "")
