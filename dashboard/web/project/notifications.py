"""Notifications: who hears of what, and does it arrive? Channels, deliveries and the tracker of a project."""

from typing import Any

from django import forms
from django.conf import settings
from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render

from dashboard.notify.channels import (
    BadChannel,
    ChannelValues,
    channel_create,
    channel_delete,
    channel_try,
    channel_update,
    owners_mail_set,
)
from dashboard.notify.formats.mail import mail_is_set
from dashboard.notify.models import Channel, CodeHost, Delivery, NotifySettings, TrackerSettings
from dashboard.quarantine.models import Notification
from dashboard.web.decorators import project_deed, project_desk
from dashboard.web.project.code_host import CodeHostForm
from dashboard.web.project.leads import notifications_lead
from dashboard.web.project.tracker import TrackerForm
from ingest.models import Project

DELIVERIES = 30
_LARGEST = 2**63 - 1
_KINDS = {
    Channel.Kind.WEBHOOK: "webhook: JSON, signed",
    Channel.Kind.SLACK: "Slack",
    Channel.Kind.TEAMS: "Microsoft Teams",
    Channel.Kind.EMAIL: "e-mail",
}
_PACES = {Channel.Pace.AT_ONCE: "at once", Channel.Pace.DAILY: "once a day, as a digest"}
WORDS = {
    Notification.Kind.PROPOSED: "proposed",
    Notification.Kind.QUARANTINED: "quarantined",
    Notification.Kind.RELEASED: "released or fixed",
    Notification.Kind.REOPENED: "reopened",
    Notification.Kind.EXPIRES_SOON: "expires soon",
    Notification.Kind.EXPIRED: "expired",
    Notification.Kind.CAP_REACHED: "cap reached",
    Notification.Kind.ORDER_DEPENDENT: "new order-dependent test",
}
"""Kind of notification -> what people call it."""


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
    owner = forms.CharField(max_length=255, required=False, help_text="Only what this owner answers for; empty: all.")
    wants = forms.MultipleChoiceField(
        choices=list(WORDS.items()),
        required=False,
        widget=forms.CheckboxSelectMultiple,
        label="What",
        help_text="Nothing chosen: everything. A digest has its own contents.",
    )
    enabled = forms.BooleanField(required=False, initial=True)

    def __init__(self, *arguments: Any, channel: Channel | None = None, **named: Any) -> None:
        super().__init__(*arguments, **named)
        if channel is not None:
            self.fields["address"].help_text = f"Empty: it stays ({channel.hint}). A new address clears the secret."
            kept = "There is one. Empty: it stays." if channel.secret else "There is none."
            self.fields["secret"].help_text = f"For webhooks: messages are signed with it. {kept}"

    def wanted(self) -> ChannelValues:
        values = dict(self.cleaned_data)
        values["wants"] = tuple(values["wants"])
        return ChannelValues(
            **{**values, "address": values["address"].strip() or None, "secret": values["secret"] or None}
        )


def _initial_values(channel: Channel) -> dict[str, Any]:
    """The values of a channel that the form shows, without its address and secret."""
    return {name: getattr(channel, name) for name in ("name", "kind", "pace", "owner", "wants", "enabled")}


# -- the page ----------------------------------------------------------------------------------------------------


@project_desk("settings")
def notifications(request: HttpRequest, project: Project) -> HttpResponse:
    return _page(request, project)


def _page(request: HttpRequest, project: Project, *, status: int = 200, **forms_: Any) -> HttpResponse:
    channels = list(project.channels.all())
    deliveries = project.deliveries.select_related("channel").order_by("-id")[:DELIVERIES]
    tracker = TrackerSettings.objects.filter(project=project).first()
    code_host = CodeHost.objects.filter(project=project).first()
    context = {
        "project": project,
        "channels": [(channel, [WORDS.get(kind, kind) for kind in channel.wants]) for channel in channels],
        "lead": notifications_lead(len(channels), sum(channel.is_failing and channel.enabled for channel in channels)),
        "deliveries": list(deliveries),
        "states": Delivery.State,
        "code_host": code_host,
        "code_host_form": CodeHostForm.of(code_host),
        "tracker": tracker,
        "tracker_form": TrackerForm.of(tracker),
        "channel_form": ChannelForm(),
        "mail_is_set": mail_is_set(),
        "mail_owners": NotifySettings.objects.filter(project=project, mail_owners=False).first() is None,
        "digest_hour": settings.DIGEST_HOUR,
        **forms_,
    }
    return render(request, "project/notifications.html", context, status=status)


@project_deed("settings")
def create(request: HttpRequest, project: Project) -> HttpResponse:
    form = ChannelForm(request.POST)
    if form.is_valid():
        try:
            made = channel_create(project=project, wanted=form.wanted(), by=request.user.get_username())
        except BadChannel as error:
            form.add_error(error.field, error.sentence)
        else:
            messages.success(request, f"The channel “{made.name}” is made. Send it a test message.")
            return redirect("notifications", slug=project.slug)
    return _page(request, project, status=422, channel_form=form)


# -- one channel -------------------------------------------------------------------------------------------------


def _channel(project: Project, channel_id: int) -> Channel:
    found = project.channels.filter(pk=channel_id).first() if channel_id <= _LARGEST else None
    if found is None:
        raise Http404
    return found


@project_desk("settings")
def channel(request: HttpRequest, project: Project, channel_id: int) -> HttpResponse:
    found = _channel(project, channel_id)
    form = ChannelForm(request.POST or None, initial=_initial_values(found), channel=found)
    if request.method == "POST" and form.is_valid():
        try:
            changed, cleared = channel_update(channel=found, wanted=form.wanted())
        except BadChannel as error:
            form.add_error(error.field, error.sentence)
        else:
            messages.success(request, f"The channel “{changed.name}” is changed.{_CLEARED if cleared else ''}")
            return redirect("notifications", slug=project.slug)
    status = 422 if request.method == "POST" else 200
    return render(
        request,
        "project/notifications_channel.html",
        {"project": project, "channel": found, "form": form},
        status=status,
    )


_CLEARED = " Its address changed, so its secret is cleared: enter one for the new address."


@project_deed("settings")
def delete(request: HttpRequest, project: Project, channel_id: int) -> HttpResponse:
    found = _channel(project, channel_id)
    channel_delete(channel=found)
    messages.success(request, f"The channel “{found.name}” is deleted.")
    return redirect("notifications", slug=project.slug)


@project_deed("settings")
def trial(request: HttpRequest, project: Project, channel_id: int) -> HttpResponse:
    """Send a test message now, and show what came back."""
    found = _channel(project, channel_id)
    outcome = channel_try(channel=found)
    if outcome.ok:
        messages.success(request, f"“{found.name}” took the test message.")
    else:
        messages.error(request, f"“{found.name}” did not take the test message. {outcome.error}")
    return redirect("notifications", slug=project.slug)


@project_deed("settings")
def mail_owners(request: HttpRequest, project: Project) -> HttpResponse:
    wanted = request.POST.get("mail_owners") == "on"
    owners_mail_set(project=project, wanted=wanted)
    messages.success(request, f"Owners {'get' if wanted else 'get no'} digests of their own by e-mail.")
    return redirect("notifications", slug=project.slug)
