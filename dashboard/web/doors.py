"""Through which a person comes to a page: signed in, and to a project that they may see."""

from collections.abc import Callable
from functools import wraps
from typing import Any

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_POST

from dashboard import access
from ingest.models import Project

View = Callable[..., HttpResponse]


def _with_project(view: View) -> View:
    @wraps(view)
    def wrapped(request: HttpRequest, slug: str, **kwargs: Any) -> HttpResponse:
        project: Project = access.user_project(request.user, slug)
        return view(request, project, **kwargs)

    return wrapped


def project_page(view: View) -> View:
    """A page of one project: the view gets the project; whoever may not see it is told that it is not there."""
    return login_required(_with_project(view))


def project_part(view: View) -> View:
    """A part of such a page that updates itself. Signed out meanwhile, the whole page is loaded again, so that the
    sign-in page does not end up inside it."""

    @wraps(view)
    def wrapped(request: HttpRequest, **kwargs: Any) -> HttpResponse:
        if not request.user.is_authenticated and "HX-Request" in request.headers:
            return HttpResponse(status=204, headers={"HX-Refresh": "true"})
        return project_page(view)(request, **kwargs)

    return wrapped


def project_deed(action: str) -> Callable[[View], View]:
    """What changes a project: by POST, and by people who may do this to it."""

    def door(view: View) -> View:
        @wraps(view)
        def wrapped(request: HttpRequest, project: Project, **kwargs: Any) -> HttpResponse:
            access.user_require(request.user, project, action)
            return view(request, project, **kwargs)

        return require_POST(project_page(wrapped))

    return door
