"""Set-up: how do I send results?"""

from typing import Any

from django import forms
from django.conf import settings
from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_POST

from dashboard.web.doors import project_page, project_part
from dashboard.welcome import curl_line
from ingest.models import Project, Token, Upload
from ingest.selectors import uploads_of
from ingest.services import token_create, token_revoke

_PLACEHOLDER = "$FLAKEBOARD_TOKEN"
CI_STEPS = (
    ("GitHub Actions", "ci/github.html"),
    ("GitLab CI", "ci/gitlab.html"),
    ("Jenkins", "ci/jenkins.html"),
    ("CircleCI", "ci/circleci.html"),
    ("Buildkite", "ci/buildkite.html"),
)


class TokenForm(forms.Form):
    name = forms.CharField(max_length=120, help_text="Who will use it, such as “GitHub Actions”.")
    scope = forms.ChoiceField(
        choices=[(Token.Scope.UPLOAD, "upload: send results and read"), (Token.Scope.READ, "read only")]
    )


@project_page
def setup(request: HttpRequest, project: Project) -> HttpResponse:
    """Tokens and steps. A new token's text is in the answer to the form that made it, and nowhere else, ever."""
    form, text = TokenForm(request.POST or None), ""
    if request.method == "POST" and form.is_valid():
        _, text = token_create(project=project, created_by_id=request.user.pk, **form.cleaned_data)
        form = TokenForm()
    response = render(
        request,
        "setup.html",
        {
            "project": project,
            "form": form,
            "text": text,
            "tokens": project.tokens.order_by("-created_at"),
            "now": timezone.now(),
            "curl_line": curl_line(project.slug, text or _PLACEHOLDER),
            "address": settings.PUBLIC_URL + reverse("api-uploads", args=(project.slug,)),
            "ci_systems": CI_STEPS,
            **_first_upload(project),
        },
    )
    if text:
        response.headers["Cache-Control"] = "no-store"
    return response


@project_part
def first_upload(request: HttpRequest, project: Project) -> HttpResponse:
    """What the set-up page asks for again and again until results have arrived."""
    return render(request, "partials/first_upload.html", {"project": project, **_first_upload(project)})


def _first_upload(project: Project) -> dict[str, Any]:
    """An upload that worked, else the newest: a first try that was rejected is not yet what we wait for."""
    uploads = uploads_of(project.pk).defer("files")
    processed = uploads.filter(state=Upload.State.PROCESSED).first()
    return {"upload": processed or uploads.first(), "arrived": processed is not None}


@require_POST
@project_page
def revoke(request: HttpRequest, project: Project, token_id: int) -> HttpResponse:
    token = project.tokens.filter(pk=token_id).first()
    if token is None:
        raise Http404
    token_revoke(token=token)
    messages.success(request, f"The token “{token.name}” is revoked. Whoever still sends it is refused.")
    return redirect("setup", slug=project.slug)
