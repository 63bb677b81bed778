"""People: who has an account on this instance? For those who administer it."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from django import forms
from django.contrib import messages
from django.contrib.auth.models import User
from django.contrib.auth.validators import UnicodeUsernameValidator
from django.db.models import Count, Max, Q, QuerySet
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_POST

from dashboard.ops.start_message import sign_in_address
from dashboard.people.accounts import (
    LastInstanceAdministrator,
    person_activate,
    person_make,
    person_set_instance_administrator,
)
from dashboard.people.audit import audit
from dashboard.web.decorators import instance_desk
from dashboard.web.export import exported
from dashboard.web.paging import numbered_page, offset_asked
from dashboard.web.query import choice, words

PAGE_SIZE = 100
HEADERS = ("name", "email", "active", "instance_administrator", "projects", "joined", "last_seen")
STATES = ("active", "deactivated", "administrators")


class PersonForm(forms.Form):
    username = forms.CharField(label="Name", max_length=150, validators=[UnicodeUsernameValidator()])
    email = forms.EmailField(label="E-mail", required=False)

    def clean_username(self) -> str:
        name: str = self.cleaned_data["username"]
        if User.objects.filter(username__iexact=name).exists():
            raise forms.ValidationError("Somebody has this name already.")
        return name


@instance_desk
@require_http_methods(["GET", "HEAD", "POST"])
def people(request: HttpRequest) -> HttpResponseBase:
    """The list, and the form that adds somebody: their one-time link is in this answer and nowhere else."""
    form, address = PersonForm(request.POST or None), ""
    if request.method == "POST" and form.is_valid():
        address = sign_in_address(person_make(**form.cleaned_data))
        form = PersonForm()
    return exported(request, "people", HEADERS, map(_cells, _people(request))) or _page(request, form, address)


def _page(request: HttpRequest, form: PersonForm, address: str = "") -> HttpResponse:
    found, start = _people(request), offset_asked(request.GET, PAGE_SIZE)
    context = {
        "people": found[start : start + PAGE_SIZE],
        "page": numbered_page(request.GET, total=found.count(), size=PAGE_SIZE),
        "text": words(request.GET, "q"),
        "state": choice(request.GET, "state", STATES),
        "states": STATES,
        "form": form,
        "address": address,
    }
    return render(request, "account/people.html", context)


def _people(request: HttpRequest) -> "QuerySet[User]":
    """By name; those whom the URL asks for."""
    text, state = words(request.GET, "q"), choice(request.GET, "state", STATES)
    found = User.objects.annotate(
        projects=Count("memberships", distinct=True), seen_at=Max("sessions__seen_at")
    ).order_by("username")
    if text:
        found = found.filter(Q(username__icontains=text) | Q(email__icontains=text))
    chosen = {
        "active": {"is_active": True},
        "deactivated": {"is_active": False},
        "administrators": {"is_superuser": True},
    }
    return found.filter(**chosen.get(state, {}))


def _cells(user: User) -> tuple[object, ...]:
    return (
        *(user.username, user.email, user.is_active, user.is_superuser),
        *(user.projects, user.date_joined, user.seen_at or user.last_login),
    )


@require_POST
@instance_desk
def act(request: HttpRequest, user_id: int, deed: str) -> HttpResponse:
    """Change an account: one of a few named deeds."""
    user = User.objects.filter(pk=user_id).first()
    if user is None or deed not in _DEEDS:
        raise Http404
    try:
        _DEEDS[deed].do(user=user)
        messages.success(request, f"{user.get_username()} {_DEEDS[deed].sentence}")
    except LastInstanceAdministrator as refusal:
        messages.error(request, refusal.sentence)
    demoted = user.pk == request.user.pk and not user.is_superuser
    return redirect("home" if demoted else "people")


@require_POST
@instance_desk
def link(request: HttpRequest, user_id: int) -> HttpResponse:
    """A one-time link for somebody who cannot come in, to be handed over by whoever made it."""
    user = User.objects.filter(pk=user_id, is_active=True).first()
    if user is None:
        raise Http404
    audit("person.link", target=user.get_username())
    return _page(request, PersonForm(), sign_in_address(user))


@dataclass(frozen=True, slots=True)
class _Deed:
    do: Callable[..., object]
    sentence: str
    """What is told afterwards, behind the person's name."""


_DEEDS = {
    "activate": _Deed(partial(person_activate, active=True), "may sign in again."),
    "deactivate": _Deed(partial(person_activate, active=False), "is kept out: sessions are ended and tokens refused."),
    "promote": _Deed(partial(person_set_instance_administrator, administrator=True), "administers the instance now."),
    "demote": _Deed(
        partial(person_set_instance_administrator, administrator=False), "no longer administers the instance."
    ),
}
