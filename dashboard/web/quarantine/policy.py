"""The policy: what it is, what it would do today, what it would have done; and its versions."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from urllib.parse import urlencode

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse

from analytics.history.names import TestName, names
from dashboard import access
from dashboard.quarantine.models import Policy
from dashboard.quarantine.policy.plan import Plan, Step
from dashboard.quarantine.policy.rehearsal import DAYS, EVERY_DAYS, Rehearsal, rehearse_asked
from dashboard.quarantine.policy.service import dry_run
from dashboard.quarantine.policy.settings import DEFAULTS, BadSettings, PolicySettings
from dashboard.quarantine.selectors import PolicyNow, policy_of
from dashboard.quarantine.services import PolicyConflict, policy_set
from dashboard.web.decorators import project_form
from dashboard.web.page_context import PageContext
from dashboard.web.quarantine.leads import policy_lead
from dashboard.web.quarantine.policy_form import PolicyForm, initial_of
from dashboard.web.quarantine.quarantine import person
from dashboard.web.query import number
from ingest.models import Project

VERSIONS_SHOWN = 50
STEPS_SHOWN = 200


@dataclass(frozen=True, slots=True)
class NamedStep:
    step: Step
    tests: Sequence[TestName]


@dataclass(frozen=True, slots=True)
class NamedPlan:
    """A plan with names in place of numbers."""

    at: datetime | None
    plan: Plan
    steps: Sequence[NamedStep]
    over: Sequence[TestName]
    quarantined: int = 0


@dataclass(frozen=True, slots=True)
class Version:
    """A version, and what differs from the one before it."""

    row: Policy
    changes: Sequence[str]


@project_form("read")
def policy_page(request: HttpRequest, project: Project) -> HttpResponse:
    """Show, try or save the policy; a trial is in the query, so that it can be linked to."""
    policy = policy_of(project.pk)
    if request.method == "POST":
        return _saved(request, project, policy) if request.POST.get("deed") == "save" else _tried(request, project)
    tried = PolicyForm(request.GET) if "mode" in request.GET else None
    form = tried or PolicyForm(initial=initial_of(policy.settings))
    settings = policy.settings if tried is None else tried.settings if tried.is_valid() else None
    return _page(request, project, policy, form, settings)


def _tried(request: HttpRequest, project: Project) -> HttpResponse:
    """Redirect to a linkable address that tries the form's settings."""
    values = {name: request.POST[name] for name in PolicyForm.base_fields if name in request.POST}
    past = {"past": "1"} if request.POST.get("deed") == "past" else {}
    address = reverse("policy", args=(project.slug,))
    return redirect(f"{address}?{urlencode({**values, **past})}{'#past' if past else '#today'}")


def _saved(request: HttpRequest, project: Project, policy: PolicyNow) -> HttpResponse:
    access.user_require(request.user, project, "policy")
    form = PolicyForm(request.POST)
    if not form.is_valid() or form.settings is None:
        return _page(request, project, policy, form, None, status=422)
    version = number(request.POST, "version", 0)
    try:
        made = policy_set(project=project, settings=form.settings, version=version, actor=person(request))
    except PolicyConflict as error:
        messages.error(request, f"Nothing is saved. {error.sentence} Look at what changed, and save again.")
        return _page(request, project, policy_of(project.pk), form, form.settings, status=409)
    messages.success(request, f"Version {made.version} of the policy is in force.")
    return redirect("policy", slug=project.slug)


def _page(
    request: HttpRequest,
    project: Project,
    policy: PolicyNow,
    form: PolicyForm,
    settings: PolicySettings | None,
    status: int = 200,
) -> HttpResponse:
    rehearses = "past" in request.GET and access.user_may(request.user, project, "quarantine")
    past = rehearse_asked(project, settings) if settings is not None and rehearses else None
    today = dry_run(project, settings) if settings is not None else None
    context: dict[str, Any] = {
        "project": project,
        "policy": policy,
        "lead": policy_lead(
            PageContext.read(request, project),
            version=policy.version,
            by=policy.row.created_by if policy.row else "",
            at=policy.row.created_at if policy.row else None,
            mode=policy.settings.mode,
        ),
        "form": form,
        "trying": form.is_bound,
        "valid": settings is not None,
        "may": access.user_may(request.user, project, "policy"),
        "days": DAYS,
        "every": EVERY_DAYS,
        **_named_plans(project, today, past),
        "versions": _versions(project),
    }
    return render(request, "quarantine/policy.html", context, status=status)


# -- dry runs ----------------------------------------------------------------------------------------------------


def _named_plans(project: Project, today: Plan | None, past: Rehearsal | None) -> dict[str, Any]:
    dated = list(zip(past.simulation.plans, past.simulation.spans, strict=True)) if past is not None else []
    plans = [*([today] if today else []), *(plan for (_, plan), _ in dated)]
    numbers = {test for plan in plans for step in plan.steps for test in step.numbers}
    known = names(project.pk, tests=numbers | {test for plan in plans for test in plan.over})

    def named_plan(plan: Plan, at: datetime | None = None, quarantined: int = 0) -> NamedPlan:
        steps = [NamedStep(step, [known.test(test) for test in step.numbers]) for step in plan.steps[:STEPS_SHOWN]]
        return NamedPlan(at, plan, steps, [known.test(test) for test in plan.over[:STEPS_SHOWN]], quarantined)

    return {
        "today": named_plan(today) if today else None,
        "past": past,
        "dated": [named_plan(plan, at, len(span.numbers)) for (at, plan), span in reversed(dated)],
    }


# -- versions ----------------------------------------------------------------------------------------------------


def _versions(project: Project) -> list[Version]:
    """Newest first."""
    rows = list(Policy.objects.filter(project=project).order_by("-version")[: VERSIONS_SHOWN + 1])
    read = [_settings(row) for row in rows]
    if len(rows) <= VERSIONS_SHOWN:
        read.append(DEFAULTS)
    return [Version(row, _changes(old, new)) for row, new, old in zip(rows, read, read[1:], strict=False)]


def _settings(row: Policy) -> PolicySettings:
    """A version from a time when other settings were known tells what is still known."""
    try:
        return PolicySettings.from_json(row.settings)
    except BadSettings:
        return DEFAULTS


def _changes(old: PolicySettings, new: PolicySettings) -> list[str]:
    before, after = initial_of(old), initial_of(new)
    label = {name: field.label for name, field in PolicyForm.base_fields.items()}
    return [
        f"{label[name]}: {_value(before[name])} became {_value(after[name])}."
        for name in after
        if before[name] != after[name]
    ]


def _value(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return "none" if value == "" else f"{value}"
