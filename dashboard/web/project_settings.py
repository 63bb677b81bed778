"""Settings of a project: what is kept and for how long, how much it takes, and the way to delete it all."""

from dataclasses import asdict, fields
from typing import Any

from django import forms
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render

from analytics.services import KEPT_DAYS
from dashboard import access
from dashboard.keeping.ages import Ages
from dashboard.keeping.deleting import deletion_ask
from dashboard.keeping.old import STEPS
from dashboard.keeping.retaining import ages_of, retention_plan, retention_set
from dashboard.keeping.sizes import sizes_of
from dashboard.notify.delivering import KEPT
from dashboard.web.doors import project_deed, project_desk
from ingest.models import Project

_MOST = 36_500


def _days(label: str, help_text: str, *, most: int = _MOST, required: bool = False) -> forms.IntegerField:
    return forms.IntegerField(label=label, help_text=help_text, min_value=1, max_value=most, required=required)


class RetentionForm(forms.Form):
    """Days; empty for ever, where that can be."""

    uploads = _days("What CI sent", "Days after it was processed; until then it can be processed again.")
    texts = _days("What failures say", "Message, text and output. Type and signature stay with the report.")
    reports = _days("Reports and runs", "By the day that they ran. What is gone is in no history and no analysis.")
    analyses = _days("Earlier analyses", f"One a day, for trends; at most {KEPT_DAYS}.", most=KEPT_DAYS, required=True)
    decisions = _days("Answers of the gate", "With the failures that they excused.")
    deliveries = _days("Notifications sent", f"At most {KEPT.days}.", most=KEPT.days, required=True)
    redact = forms.BooleanField(
        label="Redact secrets",
        required=False,
        help_text="Keys, tokens and passwords in what failures say are replaced before it is stored. "
        "The bytes that CI sent are kept as they came until they are too old.",
    )


@project_desk("settings")
def settings_page(request: HttpRequest, project: Project) -> HttpResponse:
    if request.method == "POST":
        form = RetentionForm(request.POST)
        if form.is_valid():
            told = form.cleaned_data
            ages = {field.name: told[field.name] for field in fields(Ages)}
            retention_set(project=project, ages=ages, redact=told["redact"])
            messages.success(request, "The settings are kept. What is too old by them goes within a day.")
            return redirect("project_settings", slug=project.slug)
        return _shown(request, project, form, status=422)
    return _shown(request, project, RetentionForm(initial={**asdict(ages_of(project)), "redact": project.redact}))


def _shown(request: HttpRequest, project: Project, form: RetentionForm, status: int = 200) -> HttpResponse:
    plan = retention_plan(project=project)
    context: dict[str, Any] = {
        "project": project,
        "form": form,
        "sizes": sizes_of(project),
        "plan": [(plan[step.name], step.what) for step in STEPS if plan.get(step.name)],
        "may_delete": access.user_may(request.user, project, "delete"),
    }
    return render(request, "project_settings.html", context, status=status)


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
