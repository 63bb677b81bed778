"""Trust: which repositories send without a secret, and what becomes of forks? And the deeds that change it."""

import re

from django import forms
from django.conf import settings
from django.contrib import messages
from django.contrib.auth.models import User
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.html import format_html

from dashboard.ci_trust.admission import run_admit
from dashboard.ci_trust.claims import GITHUB_ISSUER
from dashboard.ci_trust.models import ForkSettings, Provider, TrustedRepository
from dashboard.ci_trust.repositories import (
    AlreadyTrusted,
    TrustRequest,
    fork_mode,
    fork_mode_set,
    repository_distrust,
    repository_switch,
    repository_trust,
)
from dashboard.notify.pulls.services import pull_report_ask
from dashboard.web.decorators import project_deed, project_desk
from dashboard.web.project.leads import trust_lead
from dashboard.web.query import choice
from dashboard.web.run.run import run_of
from ingest.models import Project

_REFS = 20


class TrustForm(forms.Form):
    """A repository to trust. Issuers are those that whoever runs the server believes."""

    provider = forms.ChoiceField(label="CI", choices=Provider.choices)
    issuer = forms.ChoiceField(
        help_text="Who signs the ID tokens. Whoever runs this server can add one: OIDC_CI_ISSUERS."
    )
    repository_id = forms.CharField(
        label="Number of the repository",
        max_length=255,
        help_text=format_html(
            "GitHub: {}. GitLab: the project ID on its first page. Other issuers: the whole subject.",
            format_html("<code>{}</code>", "gh api repos/OWNER/NAME --jq .id"),
        ),
    )
    name = forms.CharField(max_length=255, required=False, help_text="Only to recognise it by; its tokens correct it.")
    scope = forms.ChoiceField(label="It may", choices=TrustedRepository.SCOPES)
    refs = forms.CharField(
        label="Branches",
        required=False,
        max_length=2_000,
        help_text="Separated by spaces, such as main release/*; whole refs too: refs/pull/*. Empty: all.",
    )
    environment = forms.CharField(
        max_length=255, required=False, help_text="The job's environment, if it must have one."
    )
    protected_only = forms.BooleanField(label="Protected branches only", required=False)

    def __init__(self, *args: object, **kwargs: object) -> None:
        super().__init__(*args, **kwargs)
        self.fields["issuer"].choices = [(issuer, issuer) for issuer in settings.OIDC_CI_ISSUERS]

    def clean_refs(self) -> list[str]:
        patterns = self.cleaned_data["refs"].split()
        if len(patterns) > _REFS:
            raise forms.ValidationError(f"At most {_REFS} patterns.")
        return patterns

    def clean(self) -> dict[str, object]:
        values = super().clean() or {}
        number = values.get("repository_id", "")
        if values.get("provider") != Provider.OTHER and not re.fullmatch("[0-9]{1,19}", str(number)):
            self.add_error("repository_id", "It is a number: names can be given to another repository.")
        if values.get("provider") != Provider.GITHUB and values.get("issuer") == GITHUB_ISSUER:
            self.add_error("provider", "This issuer is GitHub's.")
        return values


@project_desk("tokens")
def trusted(request: HttpRequest, project: Project) -> HttpResponse:
    form = TrustForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        assert isinstance(request.user, User)
        try:
            repository_trust(project=project, wanted=TrustRequest(**form.cleaned_data), by=request.user)
        except AlreadyTrusted:
            form.add_error("repository_id", "The project trusts this repository already.")
        else:
            messages.success(request, "The repository is trusted: its jobs may send with their ID tokens.")
            return redirect("trust", slug=project.slug)
    repositories = list(project.trusted_repositories.select_related("created_by"))
    context = {
        "project": project,
        "form": form,
        "repositories": repositories,
        "lead": trust_lead(len(repositories)),
        "audience": settings.PUBLIC_URL,
        "modes": ForkSettings.Mode.choices,
        "mode": fork_mode(project.pk),
        "excuses": settings.FORK_EXCUSES,
    }
    return render(request, "project/trust.html", context)


@project_deed("tokens")
def remove(request: HttpRequest, project: Project, trusted_id: int) -> HttpResponse:
    repository_distrust(repository=_repository(project, trusted_id))
    messages.success(request, "The repository is no longer trusted. What it sent stays.")
    return redirect("trust", slug=project.slug)


@project_deed("tokens")
def switch(request: HttpRequest, project: Project, trusted_id: int) -> HttpResponse:
    """Let a repository pause, or go on."""
    enabled = request.POST.get("enabled") == "yes"
    repository_switch(repository=_repository(project, trusted_id), enabled=enabled)
    messages.success(request, "Its tokens are taken again." if enabled else "Its tokens are refused from now on.")
    return redirect("trust", slug=project.slug)


@project_deed("tokens")
def forks(request: HttpRequest, project: Project) -> HttpResponse:
    mode = choice(request.POST, "mode", ForkSettings.Mode.values)
    if mode:
        fork_mode_set(project=project, mode=mode)
        messages.success(request, "What becomes of results of forks is set.")
    return redirect("trust", slug=project.slug)


@project_deed("decide")
def admit(request: HttpRequest, project: Project, run_id: int) -> HttpResponse:
    """Let what a fork sent count."""
    run = run_of(project, run_id)
    if run_admit(run=run):
        run.refresh_from_db()
        pull_report_ask(run=run)
        messages.success(request, "The run is admitted: the next analysis counts it.")
    return redirect("run", slug=project.slug, run_id=run.pk)


def _repository(project: Project, trusted_id: int) -> TrustedRepository:
    found = project.trusted_repositories.filter(pk=trusted_id).first()
    if found is None:
        raise Http404
    return found
