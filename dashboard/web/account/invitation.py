"""An invitation, as whoever was sent its link sees it: join, with an account that is there or a new one."""

from django import forms
from django.contrib import messages
from django.contrib.auth.forms import UserCreationForm
from django.contrib.auth.models import User
from django.db import transaction
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from dashboard.people.audit import audit
from dashboard.people.invitations import invitation_accept, invitation_find
from dashboard.people.models import Invitation
from dashboard.people.sessions import sign_in


class NewPersonForm(UserCreationForm):
    """A name and a password."""

    usable_password = None

    class Meta(UserCreationForm.Meta):
        fields = ("username",)
        labels = {"username": "Username"}
        help_texts = {"username": "You sign in with it, and others see it. Letters, digits and @ . + - _"}

    def save_for(self, invitation: Invitation) -> User:
        user = self.save(commit=False)
        user.email = invitation.email
        user.save()
        audit("person.made", target=user.get_username(), after={"by": "invitation"}, actor=user)
        return user


@require_http_methods(["GET", "HEAD", "POST"])
def invitation(request: HttpRequest, secret: str) -> HttpResponse:
    """Says who invites whom to what; joining is a POST, so that a mail scanner does not use the link up."""
    found = invitation_find(secret)
    if found is None:
        raise Http404
    signed_in = request.user if isinstance(request.user, User) else None
    sent = request.POST if request.method == "POST" else None
    form = NewPersonForm(sent) if signed_in is None else forms.Form(sent)
    if form.is_valid():
        with transaction.atomic():  # an account whose invitation somebody else used is not made
            user = signed_in or form.save_for(found)
            if invitation_accept(invitation=found, user=user) is None:
                raise Http404
        return _joined(request, found, user, new=signed_in is None)
    return render(request, "account/invitation.html", {"invitation": found, "form": form})


def _joined(request: HttpRequest, found: Invitation, user: User, *, new: bool) -> HttpResponse:
    if new:
        sign_in(request, user, by="invitation")
    messages.success(request, f"You are a member of {found.project.name} now.")
    return redirect("project", slug=found.project.slug)
