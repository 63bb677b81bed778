"""A channel as a form: where it leads, what it receives, and when it is quiet."""

from collections.abc import Iterator, Sequence
from typing import Any
from urllib.parse import urlencode

from django import forms
from django.forms.boundfield import BoundField
from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString

from analytics.selectors import current_tests
from analytics.wording import counted
from dashboard.notify.channels import LONGEST_SILENCE, ChannelValues
from dashboard.notify.models import Channel
from dashboard.notify.severity import ASKED_BY_CHANNEL, WORDS, Severity
from dashboard.quarantine.labels.models import QUERY_LENGTH
from dashboard.quarantine.labels.query import read_query
from dashboard.quarantine.labels.selectors import fitting_numbers
from ingest.models import Project

_KINDS = {
    Channel.Kind.WEBHOOK: "webhook: JSON, signed",
    Channel.Kind.SLACK: "Slack",
    Channel.Kind.TEAMS: "Microsoft Teams",
    Channel.Kind.EMAIL: "e-mail",
}
_PACES = {Channel.Pace.AT_ONCE: "at once", Channel.Pace.DAILY: "once a day, as a digest"}
_SEVERITIES = {
    Severity.INFO: "everything",
    Severity.WARNING: "warnings and critical alerts",
    Severity.CRITICAL: "critical alerts only",
}
_PASSING = {
    "": "nothing",
    Severity.CRITICAL: "critical alerts",
    Severity.WARNING: "warnings and critical alerts",
}
_CLOCK = forms.TimeInput(attrs={"type": "time"}, format="%H:%M")
_GROUPS = (
    ("Where", ("name", "kind", "address", "secret"), ""),
    ("What it receives", ("pace", "severity", "owner", "only", "rate_threshold", "silence_hours"), "wants"),
    ("Quiet hours", ("quiet_from", "quiet_until", "time_zone", "quiet_passes"), ""),
)
"""Title, fields, and the field of checkboxes below them."""


class ChannelForm(forms.Form):
    """A channel as people fill it in. What is write-only is empty, and empty leaves it as it is."""

    name = forms.CharField(max_length=120, help_text="As people call it, such as “#checkout-team”.")
    kind = forms.ChoiceField(choices=list(_KINDS.items()))
    address = forms.CharField(
        max_length=2_000, label="Address", help_text="The webhook's URL, or the e-mail address.", required=False
    )
    secret = forms.CharField(
        max_length=200,
        required=False,
        widget=forms.PasswordInput(attrs={"autocomplete": "new-password"}),
        help_text="For webhooks: messages are signed with it. It is never shown again.",
    )
    pace = forms.ChoiceField(choices=list(_PACES.items()), label="When")
    wants = forms.MultipleChoiceField(
        choices=[(kind, words) for kind, words in WORDS.items() if kind not in ASKED_BY_CHANNEL],
        required=False,
        widget=forms.CheckboxSelectMultiple,
        label="Kinds",
        help_text="Choose none to receive all. The first alert of a kind is sent at once, those of the next hour "
        "together; a broken default branch is reported once an hour at most. A digest has its own contents, and the "
        "alerts chosen here.",
    )
    severity = forms.ChoiceField(
        choices=list(_SEVERITIES.items()),
        label="How severe",
        required=False,
        help_text="Critical: the default branch, and no uploads. For information: proposals and what people decide.",
    )
    owner = forms.CharField(max_length=255, required=False, help_text="Only alerts on this owner's tests. Empty: all.")
    only = forms.CharField(
        max_length=QUERY_LENGTH,
        required=False,
        label="Only tests that fit",
        widget=forms.TextInput(attrs={"list": "saved-views"}),
        help_text="A query or a view, as in the list of tests: label:payments owner:@a. Empty: all. Alerts about no "
        "test (uploads, incidents, the flaky rate) are sent anyway.",
    )
    rate_threshold = forms.FloatField(
        required=False,
        label="Flaky rate above, in %",
        widget=forms.NumberInput(attrs={"step": "any", "min": "0", "max": "100"}),
        help_text="Alert when flaky tests alone failed more of the runs of the last 7 days: once, and again only after "
        "the rate was a fifth below it; once a day at most. Empty: never.",
    )
    silence_hours = forms.IntegerField(
        required=False,
        label="No uploads for, in hours",
        widget=forms.NumberInput(attrs={"min": "1", "max": str(LONGEST_SILENCE)}),
        help_text="Alert once when CI has sent nothing for this long. Empty: never.",
    )
    quiet_from = forms.TimeField(required=False, label="From", widget=_CLOCK)
    quiet_until = forms.TimeField(
        required=False, label="Until", widget=_CLOCK, help_text="Alerts of these hours are sent then, as one message."
    )
    time_zone = forms.CharField(
        max_length=64, required=False, initial="UTC", label="Time zone", help_text="Such as Europe/Berlin."
    )
    quiet_passes = forms.ChoiceField(
        choices=list(_PASSING.items()), required=False, label="Sent anyway", help_text="In quiet hours."
    )
    enabled = forms.BooleanField(required=False, initial=True)

    def __init__(self, *arguments: Any, channel: Channel | None = None, **named: Any) -> None:
        if channel is not None:
            named["initial"] = _initial_values(channel)
        super().__init__(*arguments, **named)
        if channel is not None:
            self.fields[
                "address"
            ].help_text = f"Leave it empty to keep this one: {channel.hint} A new one clears the secret."
            kept = "Leave it empty to keep the one that is set." if channel.secret else "None is set."
            self.fields["secret"].help_text = f"For webhooks: messages are signed with it. {kept}"

    @property
    def groups(self) -> Iterator[tuple[str, Sequence[BoundField], BoundField | None]]:
        """Its fields as they stand together, each group with its title."""
        for title, names, boxes in _GROUPS:
            yield title, [self[name] for name in names], self[boxes] if boxes else None

    def wanted(self) -> ChannelValues:
        values = dict(self.cleaned_data)
        threshold = values["rate_threshold"]
        return ChannelValues(
            **{
                **values,
                "wants": tuple(values["wants"]),
                "address": values["address"].strip() or None,
                "secret": values["secret"] or None,
                "severity": values["severity"] or Severity.INFO,
                "time_zone": values["time_zone"].strip() or "UTC",
                "rate_threshold": None if threshold is None else threshold / 100,
            }
        )


_SHOWN = (
    *("name", "kind", "pace", "owner", "wants", "enabled", "severity", "only", "silence_hours"),
    *("quiet_from", "quiet_until", "time_zone", "quiet_passes"),
)


def _initial_values(channel: Channel) -> dict[str, Any]:
    """The values of a channel that the form shows, without its address and secret."""
    threshold = channel.rate_threshold
    values = {name: getattr(channel, name) for name in _SHOWN}
    return {**values, "rate_threshold": None if threshold is None else f"{threshold * 100:g}"}


def fitting_sentence(project: Project, written: str) -> SafeString | str:
    """How many tests fit a query now, with a link to them; empty for an empty query."""
    fitting = fitting_numbers(project, written)
    if fitting is None:
        return ""
    analysis, _ = current_tests(project.pk)
    if analysis is None:
        return "How many tests fit is known after the first analysis."
    address = f"{reverse('tests', args=(project.slug,))}?{urlencode({'q': str(read_query(written))})}"
    verb = "fits" if len(fitting) == 1 else "fit"
    link = format_html('<a href="{}">{}</a>', address, counted(len(fitting), "test"))
    return format_html("{} of {} {} now.", link, f"{analysis.tests:,}", verb)
