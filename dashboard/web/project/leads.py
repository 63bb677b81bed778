"""The first sentence of each page about a project's own affairs."""

from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.text import Truncator

from analytics.wording import counted, percent
from dashboard.notify.models import Channel
from dashboard.notify.severity import Severity
from dashboard.templatetags.flakeboard import when
from dashboard.web.ansi import without_escapes
from dashboard.web.page_context import isolated, link, strong
from ingest.models import Upload


def uploads_lead(slug: str, newest: Upload | None, state: str) -> SafeString:
    """Whether CI's last file arrived, and what became of it; then which uploads are listed."""
    if newest is None:
        return format_html("{}", "No file of CI has arrived yet.")
    arrived = format_html("{} {}", strong("CI’s last file arrived"), when(newest.received_at))
    listed = f" Listed: {state} only." if state else ""
    return format_html("{}{}.{}", arrived, _became(slug, newest), listed)


def _became(slug: str, upload: Upload) -> SafeString:
    if upload.state in Upload.WAITING:
        return format_html("{}", ", and is about to be read")
    if upload.state == Upload.State.REJECTED:
        return format_html(", {}: {}", strong("but nothing in it could be read"), _reason(upload))
    if upload.state == Upload.State.FAILED:
        return format_html(", {}: {}", strong("but we could not process it"), _reason(upload))
    if upload.run_id is None:
        return format_html("{}", " and was read; its run is no longer kept")
    run = link(reverse("run", args=(slug, upload.run_id)), f"run {upload.run_id}")
    if upload.untrusted:
        return format_html(" and was read: {}, {}", run, "from a fork, which counts once somebody admits it")
    return format_html(" and was read: {}", run)


def _reason(upload: Upload) -> SafeString:
    sentence = without_escapes((upload.error or {}).get("sentence", "no reason is kept")).strip().rstrip(".")
    return isolated(Truncator(sentence).chars(200))


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
