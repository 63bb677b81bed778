"""What the person who looks at a page may do, so that it shows no button that would refuse them."""

from django import template
from django.template.context import RequestContext

from dashboard import access

register = template.Library()


@register.simple_tag(takes_context=True)
def may(context: RequestContext, action: str) -> bool:
    """`{% may "quarantine" as may_quarantine %}`: for the page's project and whoever is signed in."""
    user, project = context.get("user"), context.get("project")
    return user is not None and project is not None and access.user_may(user, project, action)


@register.simple_tag(takes_context=True)
def administers_instance(context: RequestContext) -> bool:
    user = context.get("user")
    return user is not None and access.is_instance_administrator(user)
