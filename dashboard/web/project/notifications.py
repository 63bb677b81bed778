"""Notifications: who hears of what, and does it arrive? Channels, deliveries and the tracker of a project."""

from typing import Any

from django.conf import settings
from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render

from dashboard.notify.channels import (
    BadChannel,
    channel_create,
    channel_delete,
    channel_try,
    channel_update,
    owners_mail_set,
)
from dashboard.notify.formats.mail import mail_is_set
from dashboard.notify.models import Channel, CodeHost, Delivery, NotifySettings, TrackerSettings
from dashboard.notify.severity import WORDS, Kind
from dashboard.quarantine.labels.models import QUERY_LENGTH
from dashboard.web.decorators import project_deed, project_desk
from dashboard.web.project.channel_form import ChannelForm, fitting_sentence
from dashboard.web.project.code_host import CodeHostForm
from dashboard.web.project.leads import channel_limits, notifications_lead
from dashboard.web.project.tracker import TrackerForm
from ingest.models import Project

DELIVERIES = 30
_LARGEST = 2**63 - 1

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
        "channels": [
            (channel, [WORDS.get(Kind(kind), kind) for kind in channel.wants], channel_limits(channel))
            for channel in channels
        ],
        "lead": notifications_lead(len(channels), sum(channel.is_failing and channel.enabled for channel in channels)),
        "deliveries": list(deliveries),
        "states": Delivery.State,
        "code_host": code_host,
        "code_host_form": CodeHostForm.of(code_host),
        "tracker": tracker,
        "tracker_form": TrackerForm.of(tracker),
        "channel_form": ChannelForm(),
        "views": project.saved_views.all(),
        "mail_is_set": mail_is_set(),
        "mail_owners": NotifySettings.objects.filter(project=project, mail_owners=False).first() is None,
        "digest_hour": settings.DIGEST_HOUR,
        **forms_,
    }
    return render(request, "project/notifications.html", context, status=status)


@project_deed("settings")
def create(request: HttpRequest, project: Project) -> HttpResponse:
    form = ChannelForm(request.POST)
    if _only_counts(request):
        return _page(request, project, channel_form=form, fitting=fitting_sentence(project, _query(form)))
    if form.is_valid():
        try:
            made = channel_create(project=project, wanted=form.wanted(), by=request.user.get_username())
        except BadChannel as error:
            form.add_error(error.field, error.sentence)
        else:
            messages.success(request, f"Channel “{made.name}” added. Send it a test message.")
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
    form = ChannelForm(request.POST or None, channel=found)
    saves = request.method == "POST" and not _only_counts(request)
    if saves and form.is_valid():
        try:
            changed, cleared = channel_update(channel=found, wanted=form.wanted())
        except BadChannel as error:
            form.add_error(error.field, error.sentence)
        else:
            messages.success(request, f"Channel “{changed.name}” saved.{_CLEARED if cleared else ''}")
            return redirect("notifications", slug=project.slug)
    context = {
        "project": project,
        "channel": found,
        "form": form,
        "fitting": fitting_sentence(project, _query(form)),
        "views": project.saved_views.all(),
    }
    return render(request, "project/notifications_channel.html", context, status=422 if saves else 200)


def _only_counts(request: HttpRequest) -> bool:
    """Whether the form was sent to see how many tests fit, and nothing is to be saved."""
    return request.POST.get("deed") == "count"


def _query(form: ChannelForm) -> str:
    return (form["only"].value() or "").replace("\0", "")[:QUERY_LENGTH]


_CLEARED = " Its address changed, so its secret is cleared: enter one for the new address."


@project_deed("settings")
def delete(request: HttpRequest, project: Project, channel_id: int) -> HttpResponse:
    found = _channel(project, channel_id)
    channel_delete(channel=found)
    messages.success(request, f"Channel “{found.name}” deleted.")
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
