"""Settings of a project: its name, repository, prices and what is due when, and the way to delete it all."""

from typing import Any

from django import forms
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_safe

from analytics.refreshing import refresh_ask
from dashboard import access
from dashboard.builds.links import BadAddress, checked_address
from dashboard.people.projects import project_change
from dashboard.retention.ages import MOST_DAYS
from dashboard.retention.deletion import deletion_ask
from dashboard.web.decorators import project_deed, project_desk
from ingest.models import Project
from ingest.prices import LONGEST_CURRENCY

_HIGHEST_PRICE = 1_000_000
_MOST_COMMITS = 1_000_000


class AboutForm(forms.Form):
    """What the project is called, and which branch should be green."""

    name = forms.CharField(max_length=120)
    default_branch = forms.CharField(max_length=255, help_text="The branch that should be green.")


class RepositoryForm(forms.Form):
    """Where the repository is on the web."""

    repository_url = forms.CharField(
        label="Address",
        max_length=500,
        required=False,
        help_text="As in https://github.com/owner/name; also GitLab, Bitbucket, Gitea and Azure. Empty for no links.",
    )

    def clean_repository_url(self) -> str:
        try:
            return checked_address(self.cleaned_data["repository_url"])
        except BadAddress as error:
            raise forms.ValidationError(str(error)) from error


class PricesForm(forms.Form):
    """What flakiness costs in money: any currency, written as people write it."""

    failure_price = forms.FloatField(
        label="A failure that somebody looks into",
        help_text="For each blocked run: to see that it is not one's own doing, and to start it again.",
        min_value=0,
        max_value=_HIGHEST_PRICE,
    )
    minute_price = forms.FloatField(
        label="A machine minute",
        help_text="Of retries, and of blocked runs that run again.",
        min_value=0,
        max_value=_HIGHEST_PRICE,
    )
    currency = forms.CharField(max_length=LONGEST_CURRENCY, help_text="Shown behind amounts: USD, EUR, points.")


class ExperimentsForm(forms.Form):
    """How often the whole suite is to be looked at on purpose."""

    experiment_commits = forms.IntegerField(
        label="Commits",
        help_text="Commits of the default branch after which an experiment is due, and a dependency stale.",
        min_value=1,
        max_value=_MOST_COMMITS,
    )
    experiment_days = forms.IntegerField(
        label="Days", help_text="Days after which an experiment is due.", min_value=1, max_value=MOST_DAYS
    )


class PredictionsForm(forms.Form):
    """When a prediction may be shown."""

    least_right = forms.FloatField(
        label="Right at least",
        help_text="From 0.3 to 0.9: the lower end of the interval of how often earlier predictions were right.",
        min_value=0.3,
        max_value=0.9,
    )


@project_deed("settings")
def about(request: HttpRequest, project: Project) -> HttpResponse:
    """Name and default branch. What is broken depends on the branch, so the results are analysed anew."""
    form = AboutForm(request.POST)
    if not form.is_valid():
        return _page(request, project, about=form, status=422)
    moved = form.cleaned_data["default_branch"] != project.default_branch
    project_change(project=project, **form.cleaned_data)
    if moved:
        refresh_ask(project_id=project.pk, delay=0)
    messages.success(request, f"{project.name} has {project.default_branch} as its default branch.")
    return redirect("project_settings", slug=project.slug)


@project_deed("settings")
def repository(request: HttpRequest, project: Project) -> HttpResponse:
    """Links to commits, comparisons and pull requests follow from it."""
    form = RepositoryForm(request.POST)
    if not form.is_valid():
        return _page(request, project, repository=form, status=422)
    project_change(project=project, **form.cleaned_data)
    messages.success(request, "The address of the repository is kept.")
    return redirect("project_settings", slug=project.slug)


@project_deed("settings")
def prices(request: HttpRequest, project: Project) -> HttpResponse:
    """Costs are priced when they are shown, so nothing is analysed anew."""
    form = PricesForm(request.POST)
    if not form.is_valid():
        return _page(request, project, prices=form, status=422)
    project_change(project=project, **form.cleaned_data)
    messages.success(request, "The prices are kept. Costs are shown by them from now on.")
    return redirect("project_settings", slug=project.slug)


@project_deed("settings")
def experiments(request: HttpRequest, project: Project) -> HttpResponse:
    """When an experiment is due. The server starts none."""
    form = ExperimentsForm(request.POST)
    if not form.is_valid():
        return _page(request, project, experiments=form, status=422)
    project_change(project=project, **form.cleaned_data)
    messages.success(request, "It is kept when the next experiment is due.")
    return redirect("project_settings", slug=project.slug)


@project_deed("settings")
def predictions(request: HttpRequest, project: Project) -> HttpResponse:
    """What was learnt is judged by it anew."""
    form = PredictionsForm(request.POST)
    if not form.is_valid():
        return _page(request, project, predictions=form, status=422)
    project_change(project=project, **form.cleaned_data)
    refresh_ask(project_id=project.pk, delay=0)
    messages.success(request, "It is kept when a prediction is shown; the next analysis goes by it.")
    return redirect("project_settings", slug=project.slug)


@require_safe
@project_desk("settings")
def settings_page(request: HttpRequest, project: Project) -> HttpResponse:
    return _page(request, project)


def _values(project: Project, form: type[forms.Form]) -> dict[str, Any]:
    return {name: getattr(project, name) for name in form.base_fields}


def _page(
    request: HttpRequest,
    project: Project,
    *,
    about: AboutForm | None = None,
    repository: RepositoryForm | None = None,
    prices: PricesForm | None = None,
    experiments: ExperimentsForm | None = None,
    predictions: PredictionsForm | None = None,
    status: int = 200,
) -> HttpResponse:
    context: dict[str, Any] = {
        "project": project,
        "about": about or AboutForm(initial=_values(project, AboutForm)),
        "repository": repository or RepositoryForm(initial=_values(project, RepositoryForm)),
        "prices": prices or PricesForm(initial=_values(project, PricesForm)),
        "experiments": experiments or ExperimentsForm(initial=_values(project, ExperimentsForm)),
        "predictions": predictions or PredictionsForm(initial=_values(project, PredictionsForm)),
        "may_delete": access.user_may(request.user, project, "delete"),
    }
    return render(request, "project/project_settings.html", context, status=status)


@project_deed("delete")
def delete(request: HttpRequest, project: Project) -> HttpResponse:
    """Only for who types the slug; the project is hidden at once, and its rows go in the background."""
    if request.POST.get("slug", "").strip() != project.slug:
        messages.error(request, f"Nothing is deleted: type {project.slug} to confirm it.")
        return redirect("project_settings", slug=project.slug)
    deletion_ask(project=project)
    messages.success(
        request, f"{project.name} is being deleted. Nobody sees it any more; its data goes over the next minutes."
    )
    return redirect("home")
