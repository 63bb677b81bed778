"""A project's tracker, and the button that opens a quarantine's ticket in it."""

from django import forms
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect

from dashboard.notify.models import TrackerSettings
from dashboard.notify.tickets import github, gitlab, jira, linear
from dashboard.notify.tickets.openings import ticket_open
from dashboard.notify.tickets.settings import BadTracker, TrackerValues, tracker_set
from dashboard.notify.tickets.tracker import TrackerFailed
from dashboard.web.decorators import project_deed
from dashboard.web.quarantine.quarantine import person, quarantine_of
from ingest.models import Project

_KINDS = {
    TrackerSettings.Kind.LINK: "any: a link that a person follows",
    TrackerSettings.Kind.GITHUB: "GitHub issues",
    TrackerSettings.Kind.GITLAB: "GitLab issues",
    TrackerSettings.Kind.JIRA: "Jira Cloud",
    TrackerSettings.Kind.JIRA_SERVER: "Jira Server or Data Center",
    TrackerSettings.Kind.LINEAR: "Linear",
}


class TrackerForm(forms.Form):
    kind = forms.ChoiceField(choices=list(_KINDS.items()), label="Tracker")
    template = forms.CharField(
        max_length=1_000,
        required=False,
        label="Link",
        help_text="For any tracker: https://tracker.example/new?title={title}&body={body}; also {url} and {owner}.",
    )
    repository = forms.CharField(
        max_length=255,
        required=False,
        label="Repository, project or team",
        help_text="GitHub: owner/name. GitLab: group/subgroup/project. Jira: the project's key. Linear: the team's.",
    )
    base_url = forms.CharField(
        max_length=500,
        required=False,
        label="Address of the API",
        help_text=f"Empty: {github.BASE}, {gitlab.BASE} or {linear.BASE}. GitHub Enterprise: https://host/api/v3. "
        "Jira: its own address, such as https://corp.atlassian.net.",
    )
    account = forms.CharField(
        max_length=320, required=False, label="E-mail address", help_text="Jira Cloud: whose token it is."
    )
    issue_type = forms.CharField(
        max_length=60, required=False, label="Type of issue", help_text=f"Jira: empty is {jira.ISSUE_TYPE}."
    )
    token = forms.CharField(
        max_length=500,
        required=False,
        widget=forms.PasswordInput(attrs={"autocomplete": "new-password"}),
        help_text="It may write issues there and nothing else. It is never shown again. Empty: it stays.",
    )

    @classmethod
    def of(cls, tracker: TrackerSettings | None) -> "TrackerForm":
        """As it is stored, without the token."""
        names = ("kind", "template", "repository", "base_url", "account", "issue_type")
        initial = {name: getattr(tracker, name) for name in names} if tracker else None
        return cls(initial=initial, auto_id="tracker-%s")  # other forms of the page have fields of the same names


@project_deed("settings")
def tracker_save(request: HttpRequest, project: Project) -> HttpResponse:
    form = TrackerForm(request.POST)
    if form.is_valid():
        values = {name: value.strip() for name, value in form.cleaned_data.items()}
        try:
            cleared = tracker_set(project=project, wanted=TrackerValues(**{**values, "token": values["token"] or None}))
        except BadTracker as error:
            form.add_error(error.field, error.sentence)
        else:
            more = " Its address changed, so its token is cleared: enter one for the new address." if cleared else ""
            messages.success(request, f"The tracker is changed.{more}")
            return redirect("notifications", slug=project.slug)
    wrong = (f"{form.fields[name].label or name}: {error}" for name, errors in form.errors.items() for error in errors)
    messages.error(request, f"The tracker is as it was. {' '.join(wrong)}")
    return redirect("notifications", slug=project.slug)


@project_deed("quarantine")
def ticket(request: HttpRequest, project: Project, quarantine_id: int) -> HttpResponse:
    """Open the quarantine's ticket, or find it; then back to the page that asked."""
    quarantine = quarantine_of(project, quarantine_id)
    try:
        url = ticket_open(quarantine=quarantine, actor=person(request))
    except TrackerFailed as error:
        messages.error(request, f"There is no ticket. {error}")
    else:
        messages.success(request, f"The ticket is {url}")
    return redirect("quarantine", slug=project.slug, quarantine_id=quarantine.pk)
