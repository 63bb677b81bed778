"""A policy as a form: every setting, what it is for, and within which bounds."""

from dataclasses import fields
from typing import Any

from django import forms

from dashboard.quarantine.policy.settings import BadSettings, FirstRuns, Group, PolicyMode, PolicySettings

_MODES = (
    (PolicyMode.OFF.value, "off"),
    (PolicyMode.PROPOSE.value, "propose: people approve"),
    (PolicyMode.QUARANTINE.value, "quarantine at once"),
)

_FIRST_RUNS = (
    (FirstRuns.WHOLE.value, "may pass if whole"),
    (FirstRuns.HOLD.value, "never passes"),
)

_GROUPS = (
    (Group.NONE.value, "each test by itself"),
    (Group.SIGNATURE.value, "tests that share a message"),
    (Group.TOGETHER.value, "tests that fail together"),
)


def _whole(label: str, help_text: str) -> forms.IntegerField:
    return forms.IntegerField(label=label, help_text=help_text)


def _share(label: str, help_text: str) -> forms.FloatField:
    return forms.FloatField(label=label, help_text=help_text, widget=forms.NumberInput(attrs={"step": "any"}))


def _yes(label: str, help_text: str) -> forms.BooleanField:
    return forms.BooleanField(label=label, help_text=help_text, required=False)


class PolicyForm(forms.Form):
    """Bounds are the policy's own: what it refuses is told beside the form."""

    mode = forms.ChoiceField(label="What it does", choices=_MODES)
    only = forms.CharField(
        label="Only tests that fit",
        required=False,
        max_length=500,
        help_text="A query as in the list of tests: label:payments owner:@a. Empty for all.",
    )
    least_evidence = _whole("Evidence", "At least this many contradictions and recoveries: one may be a hiccup.")
    least_rate = _share("Failure rate", "The lower end of its interval, 0 to 1. 0 = no minimum.")
    least_blocked = _whole("Runs blocked", "By it or its cluster: what blocks nobody needs no quarantine.")
    least_default_failures = _whole("Failures on the default branch", "Pull-request results can be forged.")
    least_age_days = _share("Days since it first flaked", "0 = no minimum.")
    most_tests = _whole(
        "At most this many tests", "Proposed or quarantined at once; past it the policy says so instead."
    )
    most_share = _share("At most this share of the suite", "0 to 1; one test at least.")
    days = _whole("Days that its quarantines last", "From 1 to 365.")
    pause_days = _whole(
        "Days of pause", "After a proposal was rejected or a quarantine expired, the test is left alone."
    )
    group = forms.ChoiceField(
        label="One quarantine for",
        choices=_GROUPS,
        required=False,
        help_text="One problem is one decision and one ticket. Each test counts for the cap.",
    )
    ticket = _yes("Open tickets", "When a quarantine becomes active, where the project has a tracker.")
    resolve = _yes("Follow tickets", "Closing one of ours marks its quarantine fixed; reopening it proposes it again.")
    release = _yes("Release", "End quarantines that were clean long enough.")
    reopen = _yes("Reopen", "Quarantine again what was released or fixed and flakes again.")
    missing_share = _share("Gate: tests that a run may lack", "0 to 0.5, of what such runs usually execute.")
    first_runs = forms.ChoiceField(
        label="Gate: a run that is the first of its kind",
        choices=_FIRST_RUNS,
        help_text="Of a job, shard or environment with fewer than three runs before it. Whole: not cut short.",
    )
    exit_codes = forms.CharField(
        label="Gate: exit codes",
        required=False,
        max_length=1_000,
        help_text="Where your runner's for “tests failed” differ: runner=codes, such as other=3 4; pytest=1.",
    )

    settings: PolicySettings | None = None

    def clean(self) -> dict[str, Any]:
        values = super().clean() or {}
        if not self.errors:
            try:
                group = values["group"] or Group.NONE.value
                codes = _codes(values["exit_codes"])
                self.settings = PolicySettings.from_json({**values, "group": group, "exit_codes": codes})
            except BadSettings as error:
                raise forms.ValidationError(_in_words(error.sentence)) from error
        return values


def _codes(text: str) -> dict[str, list[int]]:
    """The exit codes of each runner, from a text such as `pytest=1; other=3 4`."""
    codes_by_runner: dict[str, list[int]] = {}
    for part in filter(None, (part.strip() for part in text.split(";"))):
        runner, equals, codes = part.partition("=")
        numbers = codes.replace(",", " ").split()
        if not equals or not all(number.isascii() and number.isdecimal() and len(number) < 4 for number in numbers):
            raise BadSettings("exit_codes must be as in pytest=1; other=3 4.")
        codes_by_runner[runner.strip()] = [int(number) for number in numbers]
    return codes_by_runner


def _in_words(sentence: str) -> str:
    """The label in place of a setting's name."""
    name, _, rest = sentence.partition(" ")
    field = PolicyForm.base_fields.get(name)
    return f"{field.label}: {rest}" if field is not None else sentence


def initial_of(settings: PolicySettings) -> dict[str, Any]:
    values = {field.name: getattr(settings, field.name) for field in fields(PolicySettings)}
    codes = "; ".join(f"{runner}={' '.join(map(str, codes))}" for runner, codes in settings.exit_codes.items())
    chosen = {name: getattr(settings, name).value for name in ("mode", "first_runs", "group")}
    return {**values, **chosen, "exit_codes": codes}
