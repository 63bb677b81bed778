"""Single sign-on: to the provider, and back."""

from django.conf import settings
from django.contrib.auth.decorators import login_required
from django.contrib.auth.models import User
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.http import require_POST, require_safe

from dashboard.people import sso
from dashboard.people.audit import audit
from dashboard.people.groups import roles_from_groups
from dashboard.people.sessions import sign_in

_NEXT, _BIND = "sso_next", "sso_bind"


@require_safe
def begin(request: HttpRequest) -> HttpResponse:
    _check_set()
    request.session[_NEXT] = request.GET.get("next", "")[:2_000]
    try:
        return sso.sign_on_begin(request, settings.PUBLIC_URL + reverse("sso_callback"))
    except sso.SignOnFailed as error:
        return _failed(request, error)


@require_POST
@login_required
def bind(request: HttpRequest) -> HttpResponse:
    """Bind one's account to an identity: by a form of ours, as else another site could bind a stranger's to it."""
    _check_set()
    request.session[_BIND] = True
    return render(request, "account/sso_bind.html", {"sso": settings.OIDC_NAME})


@require_safe
def callback(request: HttpRequest) -> HttpResponse:
    """The person is back: sign in whoever the provider says it is; or bind who asked for that."""
    _check_set()
    binding = request.user if request.session.pop(_BIND, False) and isinstance(request.user, User) else None
    try:
        claims = sso.sign_on_claims(request)
        user = sso.person_of(claims, binding=binding)
    except sso.SignOnFailed as error:
        audit("sign_in.failed", target=error.sentence)
        return _failed(request, error)
    if settings.OIDC_GROUP_ROLES:
        roles_from_groups(user, claims)
    wanted = _ours(request, request.session.pop(_NEXT, ""))
    if binding is None:
        sign_in(request, user, by="sign-on")
    return redirect("account" if binding else wanted or "home")


def _check_set() -> None:
    if not sso.is_set():
        raise Http404


def _ours(request: HttpRequest, wanted: str) -> str:
    """An address that is one of ours, else nothing."""
    ours = url_has_allowed_host_and_scheme(wanted, {request.get_host()}, require_https=request.is_secure())
    return wanted if ours else ""


def _failed(request: HttpRequest, error: sso.SignOnFailed) -> HttpResponse:
    return render(request, "error.html", {"title": "Not signed in", "sentence": error.sentence}, status=403)
