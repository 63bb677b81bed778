"""Through which a person comes to a page: to a project that they may see, and to what they may do there."""

from collections.abc import Callable
from functools import wraps
from typing import Any

from django.contrib.auth.decorators import login_required
from django.contrib.auth.views import redirect_to_login
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from dashboard import access
from dashboard.people.throttling import TooOften
from dashboard.web.errors import too_many

View = Callable[..., HttpResponse]
_SAFE = ("GET", "HEAD", "OPTIONS")


def _door(view: View, action: Callable[[HttpRequest], str]) -> View:
    """The view gets the project; whoever may not see it is told that it is not there, or asked to sign in first."""

    @wraps(view)
    def wrapped(request: HttpRequest, slug: str, **kwargs: Any) -> HttpResponse:
        signed_in = request.user.is_authenticated
        try:
            project = access.user_project(request.user, slug)
            access.user_require(request.user, project, action(request))
        except (Http404, PermissionDenied):
            if signed_in:
                raise
            return redirect_to_login(request.get_full_path())
        try:
            return view(request, project, **kwargs)
        except TooOften as refusal:
            return too_many(request, refusal)

    return wrapped


def project_page(view: View) -> View:
    """A page of one project, to read."""
    return require_safe(_door(view, lambda request: "read"))


def project_form(action: str) -> Callable[[View], View]:
    """A page that whoever sees the project may read, with a form on it for those who may do this."""

    def door(view: View) -> View:
        checked = _door(view, lambda request: "read" if request.method in _SAFE else action)
        return require_http_methods(["GET", "HEAD", "POST"])(checked)

    return door


def project_desk(action: str) -> Callable[[View], View]:
    """A page that only those may see who may do what it is for, and its form."""

    def door(view: View) -> View:
        return require_http_methods(["GET", "HEAD", "POST"])(_door(view, lambda request: action))

    return door


def project_part(view: View) -> View:
    """A part of such a page that updates itself. Signed out meanwhile, the whole page is loaded again, so that the
    sign-in page does not end up inside it."""
    page = project_page(view)

    @wraps(view)
    def wrapped(request: HttpRequest, **kwargs: Any) -> HttpResponse:
        response = page(request, **kwargs)
        if response.status_code == 302 and not request.user.is_authenticated and "HX-Request" in request.headers:
            return HttpResponse(status=204, headers={"HX-Refresh": "true"})
        return response

    return wrapped


def project_deed(action: str) -> Callable[[View], View]:
    """What changes a project: by POST, and by people who may do this to it."""

    def door(view: View) -> View:
        return require_POST(_door(view, lambda request: action))

    return door


def instance_desk(view: View) -> View:
    """A page of the whole instance, for those who administer it; for others it is not there."""

    @wraps(view)
    def wrapped(request: HttpRequest, **kwargs: Any) -> HttpResponse:
        if not access.is_instance_administrator(request.user):
            raise Http404
        return view(request, **kwargs)

    return login_required(wrapped)
