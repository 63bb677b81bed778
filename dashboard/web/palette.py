"""The command palette: pages, projects, tests, runs and actions whose names hold what was typed, for the script."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from itertools import islice
from typing import Any

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, JsonResponse
from django.urls import reverse
from django.views.decorators.http import require_safe

from dashboard import access
from dashboard.web.navigation import ACTIONS, SECTIONS, NavigationPage, page_address
from dashboard.web.project.search import find
from dashboard.web.query import words
from ingest.models import Project

_MOST = 8
"""Entries of a group: what has more is on the search page."""
_SHORTEST = 2
"""Letters from which tests and runs are searched."""
_INSTANCE_PAGES = (
    ("Projects", "home"),
    ("Trends of all projects", "instance_trends"),
    ("Search", "search"),
    ("New project", "project_create"),
    ("Account", "account"),
    ("Documentation", "docs_contents"),
)
_ADMINISTRATORS_PAGES = (("People", "people"), ("Audit log of the instance", "audit"))


@dataclass(frozen=True, slots=True)
class PaletteEntry:
    label: str
    detail: str
    address: str
    state: str = ""
    """Of a test."""

    def holds(self, typed: Sequence[str]) -> bool:
        text = f"{self.label} {self.detail}".casefold()
        return all(word in text for word in typed)


@login_required
@require_safe
def palette(request: HttpRequest) -> JsonResponse:
    projects = list(access.user_projects(request.user).order_by("name"))
    projects.sort(key=lambda project: project.slug != request.GET.get("project"))  # the page's own comes first
    text = words(request.GET, "q")
    groups: dict[str, Sequence[PaletteEntry]] = {
        "Pages": _held(_pages(request.user, projects), text),
        "Actions": _held(_project_pages(request.user, projects, ACTIONS), text),
        "Projects": _held(_projects(projects), text),
        **_found(projects, text, request.GET.get("project", "")),
    }
    return JsonResponse({"groups": [_group(label, entries) for label, entries in groups.items() if entries]})


def _group(label: str, entries: Sequence[PaletteEntry]) -> dict[str, Any]:
    shown = [asdict(entry) for entry in entries[:_MOST]]
    return {"label": label, "entries": shown, "more": len(entries) > _MOST}


def _held(entries: Iterable[PaletteEntry], text: str) -> list[PaletteEntry]:
    """One more than is shown, where there are more."""
    typed = text.casefold().split()
    return list(islice((entry for entry in entries if entry.holds(typed)), _MOST + 1))


def _pages(user: access.Person, projects: Sequence[Project]) -> Iterator[PaletteEntry]:
    """Those of the first project, of the instance, then of the other projects."""
    every = [page for section in SECTIONS for page in section.pages]
    yield from _project_pages(user, projects[:1], every)
    administers = access.is_instance_administrator(user)
    for label, name in (*_INSTANCE_PAGES, *(_ADMINISTRATORS_PAGES if administers else ())):
        yield PaletteEntry(label, "", reverse(name))
    yield from _project_pages(user, projects[1:], every)


def _project_pages(
    user: access.Person, projects: Iterable[Project], pages: Sequence[NavigationPage]
) -> Iterator[PaletteEntry]:
    for project in projects:
        for page in pages:
            if access.user_may(user, project, page.action):
                yield PaletteEntry(page.label, project.name, page_address(page, project))


def _projects(projects: Iterable[Project]) -> Iterator[PaletteEntry]:
    return (PaletteEntry(project.name, project.slug, reverse("project", args=(project.slug,))) for project in projects)


def _found(projects: Sequence[Project], text: str, slug: str) -> dict[str, list[PaletteEntry]]:
    """Tests and runs: of the page's project where it has one, else of all."""
    if len(text) < _SHORTEST:
        return {}
    here = [project for project in projects if project.slug == slug]
    result = find(here or projects, text)
    tests = [
        PaletteEntry(
            hit.test.name[:200],
            (hit.test.classname or hit.test.suite)[:200],
            reverse("test", args=(hit.slug, hit.test.number)),
            hit.state,
        )
        for hit in result.tests[: _MOST + 1]
    ]
    runs = [
        PaletteEntry(
            f"Run {run.pk}", f"{run.branch} {run.build_id}"[:200], reverse("run", args=(run.project.slug, run.pk))
        )
        for run in result.runs[: _MOST + 1]
    ]
    return {"Tests": tests, "Runs": runs}
