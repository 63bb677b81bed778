"""Dependencies as people state and retire them."""

from django import forms
from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect

from analytics.lab.models import Dependency
from analytics.lab.names import Resolver
from analytics.lab.services import DependencyRefused, dependency_retire, dependency_state
from dashboard.people.audit import audit
from dashboard.web.decorators import project_deed
from ingest.models import Project, Test

_LARGEST = 2**31 - 1


class DependencyForm(forms.Form):
    """What a person says of a test."""

    before = forms.CharField(max_length=4_000)
    sign = forms.ChoiceField(choices=[("positive", "needs"), ("negative", "must not follow")])
    reason = forms.CharField(max_length=500, required=False)


@project_deed("decide")
def state(request: HttpRequest, project: Project, number: int) -> HttpResponse:
    found = Test.objects.filter(project=project, number=min(number, _LARGEST)).select_related("alias_of")
    if (test := found.first()) is None:
        raise Http404
    after, form = (test.alias_of or test).number, DependencyForm(request.POST)
    if not form.is_valid():
        messages.error(request, "Name the other test by its node id, such as tests/test_a.py::test_b.")
    else:
        _state(request, project, after, form)
    return redirect("test", slug=project.slug, number=after)


def _state(request: HttpRequest, project: Project, after: int, form: DependencyForm) -> None:
    name, sign = form.cleaned_data["before"], form.cleaned_data["sign"]
    found = Resolver(project).numbers([name])
    if not found:
        messages.error(request, f"No test of this project is called {name[:200]}.")
        return
    try:
        row, new = dependency_state(
            project=project,
            after=after,
            before=[found[name]],
            positive=sign == "positive",
            reason=form.cleaned_data["reason"],
            user_id=request.user.pk,
        )
    except DependencyRefused as refusal:
        messages.error(request, refusal.sentence)
        return
    if new:
        audit("dependency.stated", project=project, target=f"dependency {row.pk}", after={"test": after})
    messages.success(request, "The dependency is kept, and schedules heed it.")


@project_deed("decide")
def retire(request: HttpRequest, project: Project, dependency_id: int) -> HttpResponse:
    row = Dependency.objects.filter(project=project, pk=dependency_id).first()
    if row is None:
        raise Http404
    why = request.POST.get("reason", "").replace("\0", "").strip() or f"Retired by {request.user}."
    if dependency_retire(dependency=row, why=why):
        audit("dependency.retired", project=project, target=f"dependency {row.pk}", after={"why": why[:500]})
        messages.success(request, "The dependency is retired: it constrains no schedule any more.")
    return redirect("test", slug=project.slug, number=row.number)
