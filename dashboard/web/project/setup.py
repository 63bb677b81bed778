"""Setup: how do I send results?"""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django import forms
from django.conf import settings
from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone

from analytics.selectors import current_analysis
from dashboard import access
from dashboard.ops.start_message import curl_line
from dashboard.people.tokens import project_token_make, project_token_revoke
from dashboard.web import client_file
from dashboard.web.decorators import project_deed, project_form, project_part
from ingest.models import Project, Token, Upload
from ingest.selectors import uploads_of

_PLACEHOLDER = "$FLAKEBOARD_TOKEN"
_SOON = timedelta(days=30)


@dataclass(frozen=True, slots=True)
class CiSteps:
    """What to add to the jobs of one CI: in front of the tests the client, or after them a call of curl."""

    name: str
    file: str
    page: str
    """Its page of the documentation."""

    @property
    def client(self) -> str:
        return f"ci/client/{self.file}.html"

    @property
    def curl(self) -> str:
        return f"ci/{self.file}.html"


CI_STEPS = (
    CiSteps("GitHub Actions", "github", "ci/github-actions"),
    CiSteps("GitLab CI", "gitlab", "ci/gitlab"),
    CiSteps("Jenkins", "jenkins", "ci/jenkins"),
    CiSteps("CircleCI", "circleci", "ci/circleci"),
    CiSteps("Buildkite", "buildkite", "ci/buildkite"),
)
SCOPES = {
    Token.Scope.UPLOAD: "send results, ask the gate, and read: what the jobs that run tests need",
    Token.Scope.GATE: "ask the gate, and read: for a job that only decides whether a build may pass",
    Token.Scope.QUARANTINE: "quarantine and release tests, change the policy, and read: for scripts and bots",
    Token.Scope.READ: "read only: for badges, feeds and other dashboards",
}
"""Scope -> what it allows, and who needs it."""


class TokenForm(forms.Form):
    name = forms.CharField(max_length=120, help_text="Who will use it, such as “GitHub Actions”.")
    scope = forms.ChoiceField(
        choices=[(scope.value, f"{scope.value}: {sentence.partition(':')[0]}") for scope, sentence in SCOPES.items()],
        help_text="Give each job no more than it needs. No scope makes tokens or changes members.",
    )


def _ignored_sketches(project: Project) -> int:
    """Sketches of another form or key, which the last analysis could not compare."""
    analysis = current_analysis(project.pk)
    return 0 if analysis is None else analysis.summary["prediction"]["ignored"]


@project_form("tokens")
def setup(request: HttpRequest, project: Project) -> HttpResponse:
    """Tokens and steps. A new token's text is in the answer to the form that made it, and nowhere else, ever."""
    now = timezone.now()
    may_tokens = access.user_may(request.user, project, "tokens")
    form, text, made = TokenForm(request.POST or None), "", None
    if request.method == "POST" and form.is_valid():
        made, text = project_token_make(project=project, by=request.user, **form.cleaned_data)
        form = TokenForm()
    response = render(
        request,
        "project/setup.html",
        {
            "project": project,
            "form": form,
            "text": text,
            "made": made,
            "tokens": project.tokens.order_by("-created_at") if may_tokens else (),
            "now": now,
            "ending": _ending(project, now) if may_tokens else (),
            "client_digest": client_file.digest(),
            "client_wheel": settings.PUBLIC_URL + reverse("client_wheel"),
            "curl_line": curl_line(project.slug, text or _PLACEHOLDER),
            "address": settings.PUBLIC_URL + reverse("api-uploads", args=(project.slug,)),
            "site": settings.PUBLIC_URL,
            "scopes": [(scope.value, sentence) for scope, sentence in SCOPES.items()],
            "ci_systems": CI_STEPS,
            "ignored_sketches": _ignored_sketches(project),
            **_first_upload(project),
        },
    )
    if text:
        response.headers["Cache-Control"] = "no-store"
    return response


def _ending(project: Project, now: datetime) -> list[Token]:
    """Live tokens that expire soon: a second one beside each lets CI change over without a gap."""
    return list(project.tokens.filter(revoked_at=None, expires_at__range=(now, now + _SOON)).order_by("expires_at"))


@project_part
def first_upload(request: HttpRequest, project: Project) -> HttpResponse:
    """What the setup page asks for again and again until results have arrived."""
    return render(request, "project/_first_upload.html", {"project": project, **_first_upload(project)})


def _first_upload(project: Project) -> dict[str, Any]:
    """An upload that worked, else the newest: a first try that was rejected is not yet what we wait for."""
    uploads = uploads_of(project.pk).defer("files")
    processed = uploads.filter(state=Upload.State.PROCESSED).first()
    return {"upload": processed or uploads.first(), "arrived": processed is not None}


@project_deed("tokens")
def revoke(request: HttpRequest, project: Project, token_id: int) -> HttpResponse:
    token = project.tokens.filter(pk=token_id).first()
    if token is None:
        raise Http404
    project_token_revoke(token=token)
    messages.success(request, f"The token “{token.name}” is revoked. Whoever still sends it is refused.")
    return redirect("setup", slug=project.slug)
