"""How pages name the device of a session."""

from django import template

register = template.Library()

_BROWSERS = (("Edg/", "Edge"), ("OPR/", "Opera"), ("Firefox/", "Firefox"), ("Chrome/", "Chrome"), ("Safari/", "Safari"))
"""Mark in the user agent -> browser; the first that fits, since most also name those that they resemble."""
_SYSTEMS = (
    ("Android", "Android"),
    ("iPhone", "iPhone"),
    ("iPad", "iPad"),
    ("Windows", "Windows"),
    ("Mac OS X", "macOS"),
    ("Linux", "Linux"),
)


@register.filter
def device(agent: str) -> str:
    """ "Firefox on Linux"; what is no known browser as it calls itself."""
    browser = _first(_BROWSERS, agent)
    if not browser:
        return agent[:160] or "unknown"
    system = _first(_SYSTEMS, agent)
    return f"{browser} on {system}" if system else browser


def _first(names: tuple[tuple[str, str], ...], agent: str) -> str:
    return next((name for mark, name in names if mark in agent), "")
