"""New project."""

from django import forms
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.db import IntegrityError
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from dashboard.people.projects import project_make
from ingest.models import Project

_RESERVED = ("new",)
_TAKEN = "Another project has this slug."


class ProjectForm(forms.Form):
    name = forms.CharField(max_length=120, help_text="As people call it.")
    slug = forms.SlugField(
        max_length=60, help_text="In its addresses: letters, digits, hyphens and underscores. It cannot be changed."
    )
    default_branch = forms.CharField(max_length=255, initial="main", help_text="The branch that should be green.")

    def clean_slug(self) -> str:
        slug: str = self.cleaned_data["slug"]
        if slug in _RESERVED:
            raise forms.ValidationError("This slug has a meaning of its own here. Choose another.")
        if Project.objects.filter(slug__iexact=slug).exists():
            raise forms.ValidationError(_TAKEN)
        return slug


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def create(request: HttpRequest) -> HttpResponse:
    form = ProjectForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        try:
            project = project_make(by=request.user, **form.cleaned_data)
        except IntegrityError:  # two at once with the same slug
            form.add_error("slug", _TAKEN)
        else:
            messages.success(request, f"{project.name} is ready. Now let CI send its results.")
            return redirect("setup", slug=project.slug)
    return render(request, "project/project_new.html", {"form": form})
