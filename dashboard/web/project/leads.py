"""The first sentence of each page about a project's own affairs."""

from django.utils.html import format_html
from django.utils.safestring import SafeString

from analytics.wording import counted, percent
from dashboard.notify.models import Channel
from dashboard.notify.severity import Severity
from dashboard.web.page_context import strong


def uploads_lead(state: str) -> str:
    return f"What CI sent, newest first, {state} only." if state else "What CI sent, newest first."


def notifications_lead(channels: int, failing: int) -> SafeString | str:
    if not channels:
        return "Nobody is notified of alerts and quarantines yet: add a channel."
    if not failing:
        verb = "is" if channels == 1 else "are"
        return f"{counted(channels, 'channel')} {verb} notified of alerts and quarantines."
    verb, whose = ("is", "its") if failing == 1 else ("are", "their")
    trouble = strong(f"{failing:,} of {counted(channels, 'channel')} {verb} failing")
    return format_html("{}: {} last messages did not arrive.", trouble, whose)


def channel_limits(channel: Channel) -> list[str]:
    """What narrows down what a channel receives, a line each."""
    quiet = ""
    if channel.quiet_from and channel.quiet_until:
        quiet = f"quiet from {channel.quiet_from:%H:%M} until {channel.quiet_until:%H:%M}, {channel.time_zone}"
    severities = {Severity.WARNING: "warnings and critical alerts", Severity.CRITICAL: "critical alerts only"}
    lines = (
        f"of {channel.owner}" if channel.owner else "",
        f"tests that fit {channel.only}" if channel.only else "",
        severities.get(Severity(channel.severity), ""),
        f"flaky rate above {percent(channel.rate_threshold)}" if channel.rate_threshold is not None else "",
        f"no uploads for {counted(channel.silence_hours, 'hour')}" if channel.silence_hours else "",
        quiet,
    )
    return [line for line in lines if line]


def members_lead(members: int, *, public: bool) -> str:
    people = {0: "Nobody is a member yet", 1: "1 person is a member"}.get(members, f"{members:,} people are members")
    if public:
        return f"{people}, and anyone who reaches this server can read the project."
    others = "only" if not members else "besides them, only"
    return f"{people}: {others} administrators of the instance can read the project."


def trust_lead(repositories: int) -> str:
    if not repositories:
        return "No repository may send without a secret yet: CI needs a token."
    jobs = counted(repositories, "repository", "repositories")
    return f"CI jobs of {jobs} may send by their ID tokens, without a stored secret."
