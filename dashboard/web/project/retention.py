"""What a project keeps and for how long, how much that takes, and what goes today."""

from dataclasses import asdict, fields

from django import forms
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render

from dashboard.retention.ages import LONGEST, MOST_DAYS, Ages
from dashboard.retention.services import ages_of, retention_plan, retention_set
from dashboard.retention.sizes import sizes_of
from dashboard.retention.steps import STEPS
from dashboard.web.decorators import project_desk
from ingest.models import Project


def _days(label: str, help_text: str, *, most: int | None = MOST_DAYS, required: bool = False) -> forms.IntegerField:
    return forms.IntegerField(label=label, help_text=help_text, min_value=1, max_value=most, required=required)


class RetentionForm(forms.Form):
    """Days; empty for ever, where that can be."""

    uploads = _days("What CI sent", "Days after it was processed; until then it can be processed again.")
    texts = _days("What failures say", "Message, text and output. Type and signature stay with the report.")
    reports = _days("Reports and runs", "By the day that they ran. What is gone is in no history and no analysis.")
    traces = _days("Traces of tests", "What single executions of flaky tests did; differences that were found stay.")
    attachments = _days("Attachments", "Screenshots, traces of browsers and logs that CI sent beside reports.")
    analyses = _days(
        "Earlier analyses", f"One a day, for trends; at most {LONGEST.analyses}.", most=LONGEST.analyses, required=True
    )
    decisions = _days("Answers of the gate", "With the failures that they excused.")
    deliveries = _days("Notifications sent", f"At most {LONGEST.deliveries}.", most=LONGEST.deliveries, required=True)
    redact = forms.BooleanField(
        label="Redact secrets",
        required=False,
        help_text="Keys, tokens and passwords in what failures say are replaced before it is stored. "
        "The bytes that CI sent are kept as they came until they are too old.",
    )


@project_desk("settings")
def retention(request: HttpRequest, project: Project) -> HttpResponse:
    if request.method != "POST":
        return _page(request, project, RetentionForm(initial={**asdict(ages_of(project)), "redact": project.redact}))
    form = RetentionForm(request.POST)
    if not form.is_valid():
        return _page(request, project, form, status=422)
    values = form.cleaned_data
    ages = {field.name: values[field.name] for field in fields(Ages)}
    retention_set(project=project, ages=ages, redact=values["redact"])
    messages.success(request, "The settings are kept. What is too old by them goes within a day.")
    return redirect("retention", slug=project.slug)


def _page(request: HttpRequest, project: Project, form: RetentionForm, *, status: int = 200) -> HttpResponse:
    plan = retention_plan(project=project)
    context = {
        "project": project,
        "form": form,
        "sizes": sizes_of(project),
        "plan": [(plan[step.name], step.what) for step in STEPS if plan.get(step.name)],
    }
    return render(request, "project/retention.html", context, status=status)
