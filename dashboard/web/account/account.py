"""Account: what is mine here? Password, sessions, tokens and roles of the person who is signed in."""

from datetime import timedelta

from django import forms
from django.conf import settings
from django.contrib import messages
from django.contrib.auth import update_session_auth_hash
from django.contrib.auth.decorators import login_required
from django.contrib.auth.forms import PasswordChangeForm, SetPasswordForm
from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.views.decorators.http import require_http_methods, require_POST

from dashboard.people import sso
from dashboard.people.accounts import password_set
from dashboard.people.failed_sign_ins import TooManyFailures, attempt_begin, attempt_succeeded
from dashboard.people.models import Membership, PersonalToken, SignedIn
from dashboard.people.sessions import session_end, session_note, sessions_end, sessions_of
from dashboard.people.tokens import personal_token_make, personal_token_revoke, personal_tokens_live
from dashboard.web.errors import too_many
from ingest.models import Token

MAY_SET_PASSWORD = "may_set_password"  # noqa: S105 - a mark in the session
_SCOPES = (
    (Token.Scope.READ, "read: look up results and analyses"),
    (Token.Scope.QUARANTINE, "quarantine: read, and change quarantines and policies"),
    (Token.Scope.GATE, "gate: read, and ask the gate"),
    (Token.Scope.UPLOAD, "upload: read, send results, ask the gate, decide on incidents"),
)
_DAYS = ((7, "a week"), (30, "30 days"), (90, "90 days"), (365, "a year"))


class PersonalTokenForm(forms.Form):
    name = forms.CharField(max_length=120, help_text="What will use it, such as “my laptop”.")
    scope = forms.ChoiceField(choices=_SCOPES, help_text="Never exceeds your role in a project.")
    days = forms.TypedChoiceField(label="Lasts", choices=_DAYS, coerce=int, initial=365)


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def account(request: HttpRequest) -> HttpResponse:
    """The page, and the form on it that makes a token: its text is in this answer and nowhere else, ever."""
    assert isinstance(request.user, User)
    form, text = PersonalTokenForm(request.POST or None), ""
    if request.method == "POST" and form.is_valid():
        life = timedelta(days=form.cleaned_data.pop("days"))
        _, text = personal_token_make(user=request.user, life=life, **form.cleaned_data)
        form = PersonalTokenForm()
    context = {
        "form": form,
        "text": text,
        "tokens": request.user.personal_tokens.all(),
        "now": timezone.now(),
        "sessions": sessions_of(request.user),
        "this_session": request.session.session_key,
        "roles": Membership.objects.filter(user=request.user).select_related("project").order_by("project__name"),
        "sso": settings.OIDC_NAME if sso.is_set() else "",
        "identities": request.user.identities.all(),
    }
    return render(request, "account/account.html", context)


@require_POST
@login_required
def token_revoke(request: HttpRequest, token_id: int) -> HttpResponse:
    token = get_object_or_404(PersonalToken.objects.select_related("user"), user=request.user, pk=token_id)
    personal_token_revoke(token=token)
    messages.success(request, f"The token “{token.name}” is revoked. Whoever still sends it is refused.")
    return redirect("account")


@require_POST
@login_required
def end_session(request: HttpRequest, session_id: int) -> HttpResponse:
    session_end(session=get_object_or_404(SignedIn.objects.select_related("user"), user=request.user, pk=session_id))
    messages.success(request, "That session is ended.")
    return redirect("account")


@require_POST
@login_required
def end_other_sessions(request: HttpRequest) -> HttpResponse:
    assert isinstance(request.user, User)
    ended = sessions_end(user=request.user, but=request.session.session_key)
    messages.success(request, f"{ended} other session{'s are' if ended != 1 else ' is'} ended.")
    return redirect("account")


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def password(request: HttpRequest) -> HttpResponse:
    """Choose a password: with the old one, unless there is none or a one-time link was used."""
    user = request.user
    assert isinstance(user, User)
    free = not user.has_usable_password() or request.session.get(MAY_SET_PASSWORD, False)
    form = (SetPasswordForm if free else PasswordChangeForm)(user, request.POST or None)
    for field in form.fields.values():
        field.widget.attrs.pop("autofocus", None)  # the keyboard begins where every page does
    try:
        fits = request.method == "POST" and _fits(request, user, form, free)
    except TooManyFailures as refusal:
        return too_many(request, refusal)
    if fits:
        SignedIn.objects.filter(key=request.session.session_key).delete()  # this one goes on under a new key
        lost = free and user.has_usable_password()
        ended = password_set(user=user, password=form.cleaned_data["new_password1"], lost=lost)
        request.session.pop(MAY_SET_PASSWORD, None)
        update_session_auth_hash(request, user)
        session_note(request)
        tokens = tokens_ended(ended) if lost else _tokens_stay(user)
        messages.success(request, f"Your password is set. Other sessions of yours are ended.{tokens}")
        return redirect("home")
    return render(request, "account/password.html", {"form": form})


def tokens_ended(count: int) -> str:
    """A sentence on tokens revoked with a lost password, since somebody else may have made them with it."""
    several = "Your tokens are revoked too: make new ones for what still needs them."
    single = "Your token is revoked too: make a new one for what still needs it."
    return f" {several if count > 1 else single}" if count else ""


def _tokens_stay(user: User) -> str:
    return (
        " Your tokens stay: revoke on your account page what you no longer need."
        if personal_tokens_live(user).exists()
        else ""
    )


def _fits(request: HttpRequest, user: User, form: SetPasswordForm, free: bool) -> bool:
    """Whether the form is right. Old passwords are guessed here no faster than at the sign-in."""
    if free:
        return bool(form.is_valid())
    attempt_begin(request, user.get_username())
    if "old_password" not in form.errors:
        attempt_succeeded(request, user.get_username())
    return bool(form.is_valid())
