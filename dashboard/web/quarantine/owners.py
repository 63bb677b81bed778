"""Owners: who answers for which test, and which rule says so."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django import forms
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render

from dashboard import access
from dashboard.quarantine.models import CodeOwnersFile, TestOwner
from dashboard.quarantine.owners.index import OwnerIndex, owned
from dashboard.quarantine.owners.rules import BadOwners, Line, Pattern, Wrong
from dashboard.quarantine.owners.store import owner_book, owners_set, test_owner_set
from dashboard.web.decorators import project_deed, project_form
from dashboard.web.page_context import PageContext
from dashboard.web.quarantine.leads import owners_lead
from dashboard.web.test.test import test_of
from ingest.models import Project

LINES_SHOWN = 500
BY_HAND_SHOWN = 200
_PATTERNS = 500
_FIELDS = {"suite": "suite", "class": "classname", "classname": "classname"}


class OwnersForm(forms.Form):
    syntax = forms.ChoiceField(choices=[("github", "GitHub"), ("gitlab", "GitLab")])
    text = forms.CharField(
        label="CODEOWNERS",
        required=False,
        strip=False,
        widget=forms.Textarea(attrs={"rows": 14, "spellcheck": "false"}),
        help_text="As your repository has it; asked by the file that a report names. Empty: none.",
    )
    patterns = forms.CharField(
        label="Patterns of suites and classes",
        required=False,
        widget=forms.Textarea(attrs={"rows": 6, "spellcheck": "false"}),
        help_text="One a line, as “class shop.cart.* @cart” or “suite nightly* @infra”. The first that fits wins.",
    )

    wrong: Sequence[Wrong] = ()

    def clean_patterns(self) -> list[Pattern]:
        lines = [line.strip() for line in self.cleaned_data["patterns"].splitlines() if line.strip()]
        if len(lines) > _PATTERNS:
            raise forms.ValidationError(f"At most {_PATTERNS} patterns.")
        return [_pattern(number, line) for number, line in enumerate(lines, start=1)]


def _pattern(number: int, line: str) -> Pattern:
    field, _, rest = line.partition(" ")
    pattern, _, owner = rest.strip().rpartition(" ")
    if field not in _FIELDS or not pattern.strip() or not owner:
        raise forms.ValidationError(f"Line {number}: write “class” or “suite”, a pattern and an owner.")
    if len(pattern) > 500 or len(owner) > 255:
        raise forms.ValidationError(f"Line {number} is too long.")
    return Pattern(_FIELDS[field], pattern.strip(), owner)


@project_form("settings")
def owner_rules(request: HttpRequest, project: Project) -> HttpResponse:
    if request.method == "POST":
        return _saved(request, project)
    return _page(request, project, OwnersForm(initial=_initial(project)))


def _initial(project: Project) -> dict[str, str]:
    stored = CodeOwnersFile.objects.filter(project=project).first()
    book = owner_book(project)
    lines = (
        f"{'suite' if pattern.field == 'suite' else 'class'} {pattern.pattern} {pattern.owner}"
        for pattern in book.patterns
    )
    return {
        "syntax": stored.syntax if stored else "github",
        "text": stored.text if stored else "",
        "patterns": "\n".join(lines),
    }


def _saved(request: HttpRequest, project: Project) -> HttpResponse:
    access.user_require(request.user, project, "settings")
    form = OwnersForm(request.POST)
    if form.is_valid():
        values = form.cleaned_data
        text = values["text"].replace("\r\n", "\n")
        try:
            owners_set(project=project, text=text, syntax=values["syntax"], patterns=values["patterns"])
        except BadOwners as error:
            form.wrong = error.wrong
            form.add_error("text", "These lines cannot be read:" if error.wrong else error.sentence)
        else:
            messages.success(request, "The rules are kept. New quarantines are asked of these owners.")
            return redirect("owners", slug=project.slug)
    return _page(request, project, form, status=422)


@dataclass(frozen=True, slots=True)
class ShownLine:
    line: Line
    tests: int
    """That it decides."""


def _page(request: HttpRequest, project: Project, form: OwnersForm, status: int = 200) -> HttpResponse:
    book, has = owner_book(project), owned(project)
    lines, owners = book.code_owners.lines if book.code_owners else [], _owners(has, book.names)
    by_hand = TestOwner.objects.filter(test__project=project).select_related("test").order_by("owner", "test__number")
    context: dict[str, Any] = {
        "project": project,
        "form": form,
        "owned": has,
        "owners": owners,
        "lead": owners_lead(
            PageContext.read(request, project), tests=has.tests, unowned=has.nobodys, owners=len(owners)
        ),
        "lines": [ShownLine(line, has.by_rule.get(("file", line.number), 0)) for line in lines[:LINES_SHOWN]],
        "more_lines": max(len(lines) - LINES_SHOWN, 0),
        "patterns": [(pattern, has.by_rule.get(("pattern", place), 0)) for place, pattern in enumerate(book.patterns)],
        "by_hand": by_hand[:BY_HAND_SHOWN],
        "by_hand_all": len(book.by_hand),
        "may": access.user_may(request.user, project, "settings"),
    }
    return render(request, "quarantine/owners.html", context, status=status)


def _owners(has: OwnerIndex, named: Sequence[str]) -> list[tuple[str, int]]:
    """The named owners with their numbers of tests, largest first."""
    counted = [(name, len(has.numbers(name))) for name in named]
    return sorted(counted, key=lambda owner: (-owner[1], owner[0]))


class OwnerForm(forms.Form):
    owner = forms.CharField(max_length=255, required=False)


@project_deed("settings")
def owner_name(request: HttpRequest, project: Project, number: int) -> HttpResponse:
    """Name a test's owner, or take the word back; then to the test."""
    test = test_of(project, number)
    now, form = test.alias_of or test, OwnerForm(request.POST)
    if form.is_valid():
        owner = form.cleaned_data["owner"]
        test_owner_set(test=now, owner=owner)
        sentence = f"{owner} owns it now." if owner else "The rules say again who owns it."
        messages.success(request, sentence)
    else:
        messages.error(request, "An owner has at most 255 characters.")
    return redirect("test", slug=project.slug, number=now.number)
