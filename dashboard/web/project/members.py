"""Members: who may do what in this project? And the deeds that change it."""

from django import forms
from django.conf import settings
from django.contrib import messages
from django.contrib.auth.models import User
from django.core.mail import send_mail
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.template.loader import render_to_string
from django.views.decorators.http import require_safe

from dashboard.notify.formats.mail import mail_is_set
from dashboard.people.invitations import LIFE, invitation_make, invitation_revoke, open_invitations
from dashboard.people.members import LastAdministrator, member_change, member_remove, members_of
from dashboard.people.models import Membership, Role
from dashboard.people.projects import project_change
from dashboard.web.decorators import project_deed, project_desk
from dashboard.web.export import exported
from dashboard.web.project.leads import members_lead
from dashboard.web.query import choice
from ingest.models import Project

HEADERS = ("person", "role", "by_group", "member_since")
ROLES = (
    (Role.VIEWER, "viewer: reads everything"),
    (Role.MAINTAINER, "maintainer: also quarantines, decides and analyses"),
    (Role.ADMINISTRATOR, "administrator: also policy, settings, tokens and members"),
)


class InvitationForm(forms.Form):
    role = forms.ChoiceField(choices=ROLES)
    email = forms.EmailField(
        label="E-mail",
        required=False,
        help_text="The link is mailed there, where Flakeboard can send mail; it is shown here in any case.",
    )


@project_desk("see_members")
@require_safe
def member_list(request: HttpRequest, project: Project) -> HttpResponse:
    rows = (
        (member.user.get_username(), member.role, member.by_group, member.created_at) for member in members_of(project)
    )
    return exported(request, f"{project.slug}-members", HEADERS, rows) or _page(request, project, InvitationForm())


def _page(request: HttpRequest, project: Project, form: InvitationForm, address: str = "") -> HttpResponse:
    members = members_of(project)
    context = {
        "project": project,
        "members": members,
        "lead": members_lead(len(members), public=project.public),
        "invitations": open_invitations().filter(project=project).select_related("created_by"),
        "form": form,
        "address": address,
        "roles": Role.values,
        "days": LIFE.days,
    }
    return render(request, "project/members.html", context)


@project_deed("members")
def invite(request: HttpRequest, project: Project) -> HttpResponse:
    """Make a link. It is in this answer, and in the mail, and nowhere else, ever."""
    assert isinstance(request.user, User)
    form, address = InvitationForm(request.POST), ""
    if form.is_valid():
        _, address = invitation_make(project=project, by=request.user, **form.cleaned_data)
        _mail(request, project, form.cleaned_data, address)
        form = InvitationForm()
    return _page(request, project, form, address)


def _mail(request: HttpRequest, project: Project, invitation: dict[str, str], address: str) -> None:
    if not (invitation["email"] and mail_is_set()):
        return
    context = {
        "by": request.user,
        "project": project,
        "role": invitation["role"],
        "address": address,
        "days": LIFE.days,
    }
    subject = f"[Flakeboard] Join {project.name}".replace("\n", " ")[:200]
    try:
        send_mail(subject, render_to_string("mail/invitation.txt", context), None, [invitation["email"]])
    except OSError:
        messages.warning(request, "The mail could not be sent. Hand the link over yourself.")
    else:
        messages.success(request, f"The link is mailed to {invitation['email']}.")


@project_deed("members")
def revoke(request: HttpRequest, project: Project, invitation_id: int) -> HttpResponse:
    invitation = open_invitations().filter(project=project, pk=invitation_id).first()
    if invitation is None:
        raise Http404
    invitation_revoke(invitation=invitation)
    messages.success(request, "The invitation is taken back. Its link no longer works.")
    return redirect("members", slug=project.slug)


@project_deed("members")
def change(request: HttpRequest, project: Project, member_id: int) -> HttpResponse:
    membership, role = _member(project, member_id), choice(request.POST, "role", Role.values)
    if role:
        try:
            member_change(membership=membership, role=role)
            messages.success(request, f"{membership.user.get_username()} is {role} now.")
        except LastAdministrator as refusal:
            messages.error(request, refusal.sentence)
    return redirect("members", slug=project.slug)


@project_deed("members")
def remove(request: HttpRequest, project: Project, member_id: int) -> HttpResponse:
    membership = _member(project, member_id)
    try:
        member_remove(membership=membership)
        messages.success(request, f"{membership.user.get_username()} is no longer a member.")
    except LastAdministrator as refusal:
        messages.error(request, refusal.sentence)
    gone = membership.user_id == request.user.pk and not Membership.objects.filter(pk=member_id).exists()
    return redirect("home") if gone else redirect("members", slug=project.slug)


def _member(project: Project, member_id: int) -> Membership:
    found = Membership.objects.select_related("user", "project").filter(project=project, pk=member_id).first()
    if found is None:
        raise Http404
    return found


@project_deed("settings")
def visibility(request: HttpRequest, project: Project) -> HttpResponse:
    """Let everybody who reaches this server read the project, or members only."""
    public = request.POST.get("public") == "yes"
    project_change(project=project, public=public)
    who = f"Everybody who reaches {settings.PUBLIC_URL} may read it now." if public else "Only members may read it now."
    messages.success(request, who)
    return redirect("members", slug=project.slug)
