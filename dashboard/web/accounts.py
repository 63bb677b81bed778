"""Signing in: by password, or once by the link that `serve` prints."""

from django.contrib import messages
from django.contrib.auth import login, logout, update_session_auth_hash
from django.contrib.auth.decorators import login_required
from django.contrib.auth.forms import AuthenticationForm, SetPasswordForm
from django.contrib.auth.models import User
from django.contrib.auth.tokens import default_token_generator
from django.contrib.auth.views import LoginView
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.http import urlsafe_base64_decode
from django.views.decorators.http import require_POST


class SignInView(LoginView):
    template_name = "sign_in.html"
    authentication_form = AuthenticationForm
    redirect_authenticated_user = True


def one_time_sign_in(request: HttpRequest, uid: str, token: str) -> HttpResponse:
    """Sign in by a link that works once: signing in changes what its token is made of."""
    try:
        user = User.objects.filter(pk=int(urlsafe_base64_decode(uid)), is_active=True).first()
    except (ValueError, OverflowError):
        user = None
    if user is None or not default_token_generator.check_token(user, token):
        sentence = "This link was used before or is too old. A new one is printed by: manage.py sign_in_link"
        return render(request, "error.html", {"title": "Link not valid", "sentence": sentence}, status=403)
    login(request, user, backend="django.contrib.auth.backends.ModelBackend")
    return redirect("home" if user.has_usable_password() else "password")


@login_required
def password(request: HttpRequest) -> HttpResponse:
    """Choose a password."""
    assert isinstance(request.user, User)
    form = SetPasswordForm(request.user, request.POST or None)
    if request.method == "POST" and form.is_valid():
        update_session_auth_hash(request, form.save())
        messages.success(request, "Your password is set.")
        return redirect("home")
    return render(request, "password.html", {"form": form})


@require_POST
def sign_out(request: HttpRequest) -> HttpResponse:
    logout(request)
    return redirect("sign_in")
