"""Signing in and out: by password, once by the link that `serve` prints, or by a link that was mailed."""

from typing import Any

from django.conf import settings
from django.contrib import messages
from django.contrib.auth.forms import AuthenticationForm, PasswordResetForm, SetPasswordForm
from django.contrib.auth.models import User
from django.contrib.auth.tokens import default_token_generator
from django.contrib.auth.views import LoginView, PasswordResetConfirmView
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import redirect, render
from django.urls import reverse_lazy
from django.utils.decorators import method_decorator
from django.utils.http import urlsafe_base64_decode
from django.views.decorators.http import require_http_methods, require_POST

from dashboard.notify.formats.mail import mail_is_set
from dashboard.people import sso
from dashboard.people.accounts import password_set
from dashboard.people.failed_sign_ins import TooManyFailures, attempt_begin, attempt_failed, attempt_succeeded
from dashboard.people.sessions import sign_in
from dashboard.people.sessions import sign_out as session_sign_out
from dashboard.web.account.account import MAY_SET_PASSWORD, tokens_ended
from dashboard.web.errors import too_many

_form_page = method_decorator(require_http_methods(["GET", "HEAD", "POST"]), name="dispatch")


@_form_page
class SignInView(LoginView):
    template_name = "account/sign_in.html"
    authentication_form = AuthenticationForm
    redirect_authenticated_user = True

    def post(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        try:
            attempt_begin(request, self._username())
        except TooManyFailures as refusal:
            return too_many(request, refusal)
        return super().post(request, *args, **kwargs)

    def form_valid(self, form: AuthenticationForm) -> HttpResponse:
        attempt_succeeded(self.request, self._username())
        sign_in(self.request, form.get_user(), by="password")
        return HttpResponseRedirect(self.get_success_url())

    def form_invalid(self, form: AuthenticationForm) -> HttpResponse:
        attempt_failed(self._username())
        return super().form_invalid(form)

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        options = {"sso": settings.OIDC_NAME if sso.is_set() else "", "mail": mail_is_set()}
        return super().get_context_data(**kwargs, **options)

    def _username(self) -> str:
        return self.request.POST.get("username", "")[:150]


@require_http_methods(["GET", "HEAD", "POST"])
def one_time_sign_in(request: HttpRequest, uid: str, token: str) -> HttpResponse:
    """Sign in by a link that works once: signing in changes what its token is made of.

    It is used up by a POST alone: chats, mail scanners and browsers look at links before a person does."""
    try:
        user = User.objects.filter(pk=int(urlsafe_base64_decode(uid)), is_active=True).first()
    except (ValueError, OverflowError):
        user = None
    if user is None or not default_token_generator.check_token(user, token):
        sentence = "This link was used before or is too old. A new one is printed by: manage.py sign_in_link"
        return render(request, "error.html", {"title": "Link not valid", "sentence": sentence}, status=403)
    form = _first_password(request, user)
    if request.method != "POST" or (form is not None and form.is_bound and not form.is_valid()):
        return render(request, "account/sign_in_link.html", {"person": user, "form": form})
    if form is not None and form.is_bound:
        password_set(user=user, password=form.cleaned_data["new_password1"], lost=False)
        sign_in(request, user, by="one-time link")
        return redirect("home")
    sign_in(request, user, by="one-time link")
    request.session[MAY_SET_PASSWORD] = True  # whoever has the link is the person: the old password may be lost
    return redirect("home" if user.has_usable_password() else "password")


def _first_password(request: HttpRequest, user: User) -> SetPasswordForm | None:
    """The form that chooses a password while signing in, for who has none. Left empty, it is asked for afterwards."""
    if user.has_usable_password():
        return None
    filled = any(request.POST.get(name) for name in ("new_password1", "new_password2"))
    form = SetPasswordForm(user, request.POST if filled else None)
    form.use_required_attribute = False
    for field in form.fields.values():
        field.widget.attrs.pop("autofocus", None)  # the keyboard begins where every page does
    return form


@require_POST
def sign_out(request: HttpRequest) -> HttpResponse:
    session_sign_out(request)
    return redirect("sign_in")


# -- a lost password ---------------------------------------------------------------------------------------------


@require_http_methods(["GET", "HEAD", "POST"])
def password_lost(request: HttpRequest) -> HttpResponse:
    """Mail a link that lets one choose a new password. The answer is the same whether there is such a person or not."""
    if not mail_is_set():
        raise Http404
    form = PasswordResetForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        try:
            attempt_begin(request, f"reset {form.cleaned_data['email']}")
        except TooManyFailures as refusal:
            return too_many(request, refusal)
        form.save(
            domain_override=settings.PUBLIC_URL.partition("://")[2],
            use_https=settings.TLS,
            subject_template_name="mail/password_subject.txt",
            email_template_name="mail/password.txt",
        )
        messages.success(request, "If an account has this address, a link is on its way to it.")
        return redirect("sign_in")
    return render(request, "account/password_lost.html", {"form": form})


@_form_page
class PasswordResetView(PasswordResetConfirmView):
    template_name = "account/password_reset.html"
    success_url = reverse_lazy("sign_in")

    def form_valid(self, form: SetPasswordForm) -> HttpResponse:
        ended = password_set(user=form.user, password=form.cleaned_data["new_password1"], lost=True)
        messages.success(self.request, f"Your password is set. Sign in with it.{tokens_ended(ended)}")
        return HttpResponseRedirect(str(self.success_url))
