"""What people say of a quarantine: when they ask for one, and when they change one."""

from typing import Any

from django import forms

from dashboard.quarantine.models import DAYS, Quarantine

_PATTERNS = 50
_LONGEST = 255
_NAME = 64
MODES = (
    (Quarantine.Mode.MUTE, "mute: it runs and does not block"),
    (Quarantine.Mode.SKIP, "skip: it is not run (discouraged)"),
)


class TermsForm(forms.Form):
    """What can be said of a quarantine, then and later."""

    owner = forms.CharField(max_length=_LONGEST, required=False, help_text="User, team or e-mail: who answers for it.")
    ticket_url = forms.URLField(
        max_length=2_000, required=False, label="Ticket", assume_scheme="https", help_text="Where the fix is tracked."
    )
    branches = forms.CharField(
        max_length=5_000,
        required=False,
        help_text="Where it holds: patterns with commas between, such as release/*. Empty: all.",
    )
    environments = forms.CharField(
        max_length=5_000, required=False, help_text="Such as os=linux, os=macos, python=3.12. Empty: all."
    )
    mode = forms.ChoiceField(
        choices=MODES,
        initial=Quarantine.Mode.MUTE,
        help_text="A skipped test cannot show that it is fixed: prefer mute.",
    )

    def clean_ticket_url(self) -> str:
        url: str = self.cleaned_data["ticket_url"]
        if url and not url.startswith(("http://", "https://")):
            raise forms.ValidationError("It must start with http:// or https://.")
        return url

    def clean_branches(self) -> list[str]:
        return _parts(self.cleaned_data["branches"])

    def clean_environments(self) -> dict[str, list[str]]:
        environments: dict[str, list[str]] = {}
        for part in _parts(self.cleaned_data["environments"]):
            name, equals, value = (piece.strip() for piece in part.partition("="))
            if not equals or not value or not 0 < len(name) <= _NAME:
                raise forms.ValidationError("Write name=value, with commas between.")
            environments.setdefault(name, []).append(value)
        return environments

    @property
    def terms(self) -> dict[str, Any]:
        return {name: self.cleaned_data[name] for name in TermsForm.base_fields}


def _parts(text: str) -> list[str]:
    parts = [part.strip() for part in text.replace("\n", ",").split(",") if part.strip()]
    if len(parts) > _PATTERNS or any(len(part) > _LONGEST for part in parts):
        raise forms.ValidationError(f"At most {_PATTERNS}, each of at most {_LONGEST} characters.")
    return parts


def initial_of(quarantine: Quarantine) -> dict[str, Any]:
    """What the form of a change shows at first."""
    pairs = (
        (name, values if isinstance(values, list) else [values]) for name, values in quarantine.environments.items()
    )
    return {
        "owner": quarantine.owner,
        "ticket_url": quarantine.ticket_url,
        "branches": ", ".join(quarantine.branches),
        "environments": ", ".join(f"{name}={value}" for name, values in pairs for value in values),
        "mode": quarantine.mode,
    }


def _days() -> forms.IntegerField:
    return forms.IntegerField(min_value=1, max_value=365, initial=DAYS, label="Days", help_text="How long it lasts.")


class NewForm(TermsForm):
    """A new quarantine."""

    field_order = ("reason", "owner", "ticket_url", "days", "branches", "environments", "mode")
    reason = forms.CharField(
        max_length=5_000, widget=forms.Textarea(attrs={"rows": 3}), help_text="Why its failures should not block."
    )
    days = _days()


class ActForm(forms.Form):
    """Something done to a quarantine as it was at a version."""

    version = forms.IntegerField(min_value=1, widget=forms.HiddenInput)
    reason = forms.CharField(max_length=5_000, required=False)
    days = forms.IntegerField(min_value=1, max_value=365, required=False)
