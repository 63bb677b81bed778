"""A new quarantine: of a test, of several tests at once, or of a cluster."""

from dataclasses import dataclass
from typing import Any

from django.http import Http404, HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect, render

from analytics.models import ClusterFinding
from dashboard import access
from dashboard.quarantine.models import DAYS, Quarantine
from dashboard.quarantine.requests import asked_terms, asked_tests, clean_runs_needed, suggested_owner, tests_now
from dashboard.quarantine.selectors import live_quarantines
from dashboard.quarantine.services import REFUSALS, Actor, Unusable, quarantine_create
from dashboard.quarantine.states import Action
from dashboard.web.decorators import project_desk
from dashboard.web.page_context import PageContext
from dashboard.web.quarantine.bulk import Result
from dashboard.web.quarantine.forms import NewForm
from dashboard.web.quarantine.leads import new_lead
from dashboard.web.quarantine.quarantine import person
from ingest.models import Project, Test

MOST = 200
_BEGIN = {"propose": Action.PROPOSE, "quarantine": Action.QUARANTINE}


@dataclass(frozen=True, slots=True)
class QuarantineRequest:
    """What shall be quarantined: each group becomes one quarantine."""

    groups: list[list[Test]]
    cluster: int | None
    """The number of the cluster of tests that fail together."""

    @property
    def tests(self) -> list[Test]:
        return [test for group in self.groups for test in group]

    @classmethod
    def read(cls, project: Project, query: QueryDict) -> "QuarantineRequest":
        """From `test=1&test=2` or `cluster=together/1`; what is not there is not found."""
        try:
            if "cluster" in query:
                view, _, number = query["cluster"].partition("/")
                if view not in ClusterFinding.View.values:
                    raise Http404
                together = view == ClusterFinding.View.TOGETHER
                tests = asked_tests(project, cluster=_number(number), view=view)
                return cls([tests], _number(number) if together else None)
        except Unusable as error:
            raise Http404 from error
        tests = tests_now(project, {_number(text) for text in query.getlist("test")[:MOST]})
        if "test" in query and not tests:
            raise Http404
        return cls([[test] for test in tests], None)


def _number(text: str) -> int:
    if not (text.isascii() and text.isdecimal() and len(text) <= 9):
        raise Http404
    return int(text)


@project_desk("quarantine")
def quarantine_new(request: HttpRequest, project: Project) -> HttpResponse:
    access.user_require(request.user, project, "quarantine")
    wanted = QuarantineRequest.read(project, request.GET)
    form = NewForm(request.POST or None, initial={"days": DAYS, "owner": _owner(project, wanted)})
    if wanted.groups and request.method == "POST" and form.is_valid():
        return _begun(request, project, wanted, form)
    live = live_quarantines(project.pk, [test.number for test in wanted.tests])
    free = sum(test.number not in live for test in wanted.tests)
    context: dict[str, Any] = {
        "project": project,
        "query": wanted,
        "form": form,
        "tests": [(test, live.get(test.number)) for test in wanted.tests],
        "free": free,
        "lead": new_lead(
            PageContext.read(request, project),
            tests=len(wanted.tests),
            free=free,
            groups=len(wanted.groups),
            needed=clean_runs_needed(project, wanted.tests) if len(wanted.groups) == 1 else None,
        ),
    }
    return render(request, "quarantine/quarantine_new.html", context, status=422 if form.is_bound else 200)


def _owner(project: Project, wanted: QuarantineRequest) -> str:
    """Of several quarantines each has an owner of its own, looked up where none is said."""
    return suggested_owner(project, wanted.groups[0]) if len(wanted.groups) == 1 else ""


def _begun(request: HttpRequest, project: Project, wanted: QuarantineRequest, form: NewForm) -> HttpResponse:
    """Make them; one leads to its page, several to a line for each."""
    action = _BEGIN.get(request.POST.get("begin", ""), Action.PROPOSE)
    results = [_begin(project, group, wanted.cluster, form, person(request), action) for group in wanted.groups]
    if len(results) == 1 and results[0].quarantine is not None and results[0].done:
        return redirect("quarantine", slug=project.slug, quarantine_id=results[0].quarantine)
    return render(request, "quarantine/quarantine_done.html", {"project": project, "results": results})


def _begin(
    project: Project, tests: list[Test], cluster: int | None, form: NewForm, actor: Actor, action: Action
) -> Result:
    label = tests[0].name if len(tests) == 1 else f"{tests[0].name} and {len(tests) - 1} more"
    try:
        terms = asked_terms(project, tests, {**form.terms, **_besides(form)}, cluster=cluster)
        made: Quarantine = quarantine_create(project=project, tests=tests, actor=actor, terms=terms, action=action)
    except REFUSALS as error:
        return Result(label, error.sentence, False, test=tests[0].number)
    sentence = "It is proposed." if action is Action.PROPOSE else "It is quarantined."
    return Result(label, sentence, True, made.pk)


def _besides(form: NewForm) -> dict[str, Any]:
    return {"reason": form.cleaned_data["reason"], "days": form.cleaned_data["days"]}
