"""What the reader looked at lately, for the search box on every page."""

from collections.abc import Sequence

from django import template
from django.template import RequestContext

from dashboard.web.recent import ViewedPage, recently_viewed

register = template.Library()


@register.simple_tag(takes_context=True)
def recently(context: RequestContext, most: int = 6) -> Sequence[ViewedPage]:
    """Newest first; of the page's project where it has one."""
    request, project = context.get("request"), context.get("project")
    if request is None:
        return []
    return recently_viewed(request, [project.slug] if project else None)[:most]
