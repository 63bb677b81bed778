"""How a quarantine's ticket is come by."""

from dataclasses import dataclass

from django import template

from dashboard.notify.models import TrackerSettings
from dashboard.notify.tickets.drafts import ticket_link
from dashboard.quarantine.models import Quarantine

register = template.Library()


@dataclass(frozen=True, slots=True)
class Ways:
    opens: bool = False
    """We can open it by ourselves."""
    link: str = ""
    """A person can, by following this."""


@register.simple_tag
def ticket_ways(quarantine: Quarantine) -> Ways:
    tracker = TrackerSettings.objects.filter(project_id=quarantine.project_id).first()
    if tracker is None or not quarantine.is_live:
        return Ways()
    opens = tracker.kind != TrackerSettings.Kind.LINK and bool(tracker.token)
    return Ways(opens, ticket_link(tracker.template, quarantine) if tracker.template else "")
