"""One quarantine: all about it, what can be done, and what was done."""

from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render

from analytics.columns.rows import test_row
from dashboard import access
from dashboard.notify.models import TicketOpening
from dashboard.quarantine.fixes import fixes_of, verifications_of
from dashboard.quarantine.models import DAYS, Quarantine
from dashboard.quarantine.requests import asked_expiry
from dashboard.quarantine.selectors import quarantines_of
from dashboard.quarantine.services import REFUSALS, Actor, quarantine_act
from dashboard.quarantine.states import Action, ActorKind
from dashboard.web.analysis import page_analysis
from dashboard.web.decorators import project_deed, project_page
from dashboard.web.page_context import PageContext
from dashboard.web.quarantine.events import told_events
from dashboard.web.quarantine.forms import ActForm, TermsForm, initial_of
from dashboard.web.quarantine.leads import quarantine_lead
from dashboard.web.quarantine.rows import BY_PEOPLE, actions_of, told, waits
from ingest.models import Project

TESTS_SHOWN = 100
_LARGEST = 2**63 - 1


@dataclass(frozen=True, slots=True)
class Button:
    """An action as the page offers it."""

    label: str
    explained: str
    days: bool = False
    """It sets a new expiry."""
    primary: bool = False


BUTTONS = {
    Action.APPROVE: Button("Approve", "Its tests' failures no longer block.", primary=True),
    Action.REJECT: Button("Reject", "Nothing changes; the policy leaves the test alone for a while."),
    Action.EXTEND: Button("Extend", "Extend for this many days.", days=True),
    Action.RELEASE: Button("Release", "Its tests block again."),
    Action.FIX: Button("Fixed", "The cause is gone: its tests block again."),
    Action.REOPEN: Button("Reopen", "It holds again, for this many days from now.", days=True),
}
DONE = {
    Action.APPROVE: "approved",
    Action.REJECT: "rejected",
    Action.CHANGE: "changed",
    Action.EXTEND: "extended",
    Action.RELEASE: "released: its tests block again",
    Action.FIX: "fixed: its tests block again",
    Action.REOPEN: "reopened",
}
"""Action -> what a quarantine is after it."""


def person(request: HttpRequest) -> Actor:
    return Actor(ActorKind.PERSON, request.user.get_username())


def quarantine_of(project: Project, quarantine_id: int) -> Quarantine:
    found = quarantines_of(project.pk).filter(pk=quarantine_id).first() if quarantine_id <= _LARGEST else None
    if found is None:
        raise Http404
    return found


@project_page
def quarantine_detail(request: HttpRequest, project: Project, quarantine_id: int) -> HttpResponse:
    return _page(request, project, quarantine_of(project, quarantine_id))


def _page(
    request: HttpRequest, project: Project, quarantine: Quarantine, form: TermsForm | None = None
) -> HttpResponse:
    row = told([quarantine])[quarantine.pk]
    now = page_analysis(project)
    actions = actions_of(quarantine)
    context: dict[str, Any] = {
        "project": project,
        "quarantine": quarantine,
        "row": row,
        "lead": quarantine_lead(PageContext.read(request, project), row),
        "tests": [(test, test_row(now.columns, test.number)) for test in row.tests[:TESTS_SHOWN]],
        "may": access.user_may(request.user, project, "quarantine"),
        "buttons": [(action.value, BUTTONS[action]) for action in actions if action in BUTTONS],
        "changeable": Action.CHANGE in actions,
        "same_tests": urlencode([("test", test.number) for test in row.tests[:TESTS_SHOWN]]),
        "form": form or TermsForm(initial=initial_of(quarantine)),
        "days": DAYS,
        "events": told_events(quarantine.events.order_by("-version")),
        "fix": fixes_of([quarantine], {quarantine.pk: row.tests}).get(quarantine.pk),
        "verifications": verifications_of(quarantine, row.tests),
        "opening": TicketOpening.objects.filter(quarantine=quarantine).exclude(error="").first(),
        "analysed": now,
        "waits": waits([row], now.analysis, now.columns),
    }
    return render(request, "quarantine/quarantine.html", context, status=422 if form is not None else 200)


@project_deed("quarantine")
def quarantine_do(request: HttpRequest, project: Project, quarantine_id: int, action: str) -> HttpResponse:
    """Carry out the action on the version that the page showed, or say who changed it in the meantime."""
    if action not in {allowed_action.value for allowed_action in BY_PEOPLE}:
        raise Http404
    quarantine, form = quarantine_of(project, quarantine_id), ActForm(request.POST)
    terms = TermsForm(request.POST) if action == Action.CHANGE else None
    if terms is not None and not terms.is_valid():
        return _page(request, project, quarantine, terms)
    if not form.is_valid():
        wrong = "; ".join(f"{name}: {error}" for name, errors in form.errors.items() for error in errors)
        messages.error(request, f"Nothing is changed. {wrong}")
    else:
        _do(request, quarantine, Action(action), form, terms)
    return redirect("quarantine", slug=project.slug, quarantine_id=quarantine.pk)


def _do(request: HttpRequest, quarantine: Quarantine, action: Action, form: ActForm, terms: TermsForm | None) -> None:
    values = form.cleaned_data
    try:
        quarantine_act(
            quarantine=quarantine,
            version=values["version"],
            action=action,
            actor=person(request),
            reason=values["reason"],
            expires_at=asked_expiry(None, values["days"]),
            changes=_changed(quarantine, terms) if terms is not None else {},
        )
    except REFUSALS as error:
        messages.error(request, f"Nothing is changed. {error.sentence}")
    else:
        messages.success(request, f"Quarantine {quarantine.pk} is {DONE[action]}.")


def _changed(quarantine: Quarantine, terms: TermsForm) -> dict[str, Any]:
    """What the form says otherwise than it is: a value alone and a list with it are the same."""
    before = TermsForm(initial_of(quarantine))
    same = before.terms if before.is_valid() else {}
    return {name: value for name, value in terms.terms.items() if name not in same or same[name] != value}
