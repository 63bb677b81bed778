"""The first sentence of each page about a project's own affairs."""

from django.utils.html import format_html
from django.utils.safestring import SafeString

from analytics.wording import counted
from dashboard.web.page_context import strong


def uploads_lead(state: str) -> str:
    return f"What CI sent, newest first, {state} only." if state else "What CI sent, newest first."


def notifications_lead(channels: int, failing: int) -> SafeString | str:
    if not channels:
        return "Nobody is notified about this project's quarantines yet: add a channel."
    if not failing:
        verb = "is" if channels == 1 else "are"
        return f"{counted(channels, 'channel')} {verb} notified about this project's quarantines."
    verb, whose = ("is", "its") if failing == 1 else ("are", "their")
    trouble = strong(f"{failing:,} of {counted(channels, 'channel')} {verb} failing")
    return format_html("{}: {} last messages did not arrive.", trouble, whose)


def members_lead(members: int, *, public: bool) -> str:
    people = "1 person is a member" if members == 1 else f"{members:,} people are members"
    if public:
        return f"{people}, and anyone who reaches this server can read the project."
    return f"{people}; nobody else can read the project, except instance administrators."


def trust_lead(repositories: int) -> str:
    if not repositories:
        return "No repository may send without a secret yet: CI needs a token."
    jobs = counted(repositories, "repository", "repositories")
    return f"CI jobs of {jobs} may send by their ID tokens, without a stored secret."
