"""Where a project's pull requests are, and whether comments and checks are written there."""

from django import forms
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect

from dashboard.notify.models import CodeHost
from dashboard.notify.pulls.settings import BadHost, HostValues, code_host_remove, code_host_set
from dashboard.web.decorators import project_deed
from ingest.models import Project


class CodeHostForm(forms.Form):
    kind = forms.ChoiceField(choices=CodeHost.Kind.choices, label="Host")
    repository = forms.CharField(max_length=255, help_text="owner/name, or group/subgroup/project.")
    base_url = forms.CharField(
        max_length=500,
        required=False,
        label="Address of the API",
        help_text="Empty for github.com, gitlab.com, bitbucket.org and codeberg.org. GitHub Enterprise: https://host/api/v3.",
    )
    app_id = forms.CharField(max_length=20, required=False, label="App id", help_text="For a GitHub App alone.")
    installation_id = forms.CharField(max_length=20, required=False, label="Installation id")
    secret = forms.CharField(
        max_length=8_000,
        required=False,
        label="Token or private key",
        widget=forms.Textarea(attrs={"rows": 2, "autocomplete": "off", "spellcheck": "false"}),
        help_text="A token that may write comments and statuses, or the App's private key; never shown again. "
        "Empty: it stays.",
    )
    comments = forms.BooleanField(
        required=False, initial=True, label="Write a comment", help_text="One, edited in place."
    )
    checks = forms.BooleanField(required=False, initial=True, label="Set a check", help_text="With the gate's answer.")

    @classmethod
    def of(cls, host: CodeHost | None) -> "CodeHostForm":
        """As it is stored, without the secret."""
        names = [name for name in cls.base_fields if name != "secret"]
        initial = {name: getattr(host, name) for name in names} if host else None
        return cls(initial=initial, auto_id="code-host-%s")  # other forms of the page have fields of the same names


@project_deed("settings")
def code_host_save(request: HttpRequest, project: Project) -> HttpResponse:
    form = CodeHostForm(request.POST)
    if form.is_valid():
        stripped = {
            name: value.strip() if isinstance(value, str) else value for name, value in form.cleaned_data.items()
        }
        try:
            cleared = code_host_set(
                project=project, wanted=HostValues(**{**stripped, "secret": stripped["secret"] or None})
            )
        except BadHost as error:
            form.add_error(error.field, error.sentence)
        else:
            more = " Its address changed, so its secret is cleared: enter one for the new address." if cleared else ""
            messages.success(request, f"It is kept where the pull requests are.{more}")
            return redirect("notifications", slug=project.slug)
    wrong = (f"{form.fields[name].label or name}: {error}" for name, errors in form.errors.items() for error in errors)
    messages.error(request, f"Nothing is changed. {' '.join(wrong)}")
    return redirect("notifications", slug=project.slug)


@project_deed("settings")
def code_host_delete(request: HttpRequest, project: Project) -> HttpResponse:
    code_host_remove(project=project)
    messages.success(request, "Nothing is written to pull requests any more. What was written stays.")
    return redirect("notifications", slug=project.slug)
