"""Many quarantines at once: each by itself, so that one that somebody was quicker with does not hold up the others."""

from collections.abc import Iterable
from dataclasses import dataclass
from urllib.parse import urlencode

from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import render
from django.urls import reverse

from dashboard.quarantine.models import Quarantine
from dashboard.quarantine.requests import asked_expiry
from dashboard.quarantine.selectors import quarantines_of
from dashboard.quarantine.services import REFUSALS, Actor, quarantine_act
from dashboard.quarantine.states import Action
from dashboard.web.decorators import project_deed
from dashboard.web.quarantine.quarantine import DONE, person
from dashboard.web.quarantine.rows import told
from dashboard.web.query import choice, number
from ingest.models import Project

MOST = 500
ACTIONS = (Action.APPROVE, Action.REJECT, Action.EXTEND, Action.RELEASE)
_KEPT = ("state", "owner", "q", "sort", "page", "view")


@dataclass(frozen=True, slots=True)
class Result:
    """What became of one: done, or why not."""

    label: str
    sentence: str
    done: bool
    quarantine: int | None = None
    test: int | None = None


@dataclass(frozen=True, slots=True)
class Deed:
    """What is done to each of them."""

    action: Action
    actor: Actor
    reason: str
    days: int | None

    def do(self, quarantine: Quarantine, version: int) -> tuple[bool, str]:
        try:
            quarantine_act(
                quarantine=quarantine,
                version=version,
                action=self.action,
                actor=self.actor,
                reason=self.reason,
                expires_at=asked_expiry(None, self.days) if self.action is Action.EXTEND else None,
            )
        except REFUSALS as error:
            return False, error.sentence
        return True, f"It is {DONE[self.action]}."


@project_deed("quarantine")
def quarantine_bulk(request: HttpRequest, project: Project) -> HttpResponse:
    """Approve, reject, extend or release the ticked quarantines in the versions that the list showed."""
    action = choice(request.POST, "action", {allowed_action.value for allowed_action in ACTIONS})
    deed = Deed(
        Action(action) if action else Action.APPROVE,
        person(request),
        request.POST.get("reason", "").replace("\0", "").strip()[:5_000],
        min(max(number(request.POST, "days", 0), 1), 365) if request.POST.get("days") else None,
    )
    results = _results(project, deed, chosen(request.POST.getlist("chosen"))) if action else []
    back = f"{reverse('quarantines', args=(project.slug,))}?{_back(request)}"
    return render(request, "quarantine/quarantine_done.html", {"project": project, "results": results, "back": back})


def chosen(ticked: Iterable[str]) -> dict[int, int]:
    """The versions of the ticked quarantines by id; malformed pairs are left out."""
    found: dict[int, int] = {}
    for pair in list(ticked)[:MOST]:
        pk, _, version = pair.partition(":")
        if all(part.isascii() and part.isdecimal() and len(part) <= 18 for part in (pk, version)):
            found[int(pk)] = int(version)
    return found


def _results(project: Project, deed: Deed, versions: dict[int, int]) -> list[Result]:
    rows = told(list(quarantines_of(project.pk).filter(pk__in=versions).order_by("id")))
    results = []
    for pk, version in versions.items():
        row = rows.get(pk)
        if row is None:
            results.append(Result(f"Quarantine {pk}", "There is no such quarantine here.", False))
            continue
        done, sentence = deed.do(row.quarantine, version)
        results.append(Result(row.name, sentence, done, pk))
    return results


def _back(request: HttpRequest) -> str:
    """The list as it was narrowed down; what is not ours to keep is dropped."""
    query = QueryDict(request.POST.get("kept", "")[:2_000])
    return urlencode({name: query[name] for name in _KEPT if name in query})
