"""What a person looked at lately, kept in their session: the way back to a test or a run."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.http import HttpRequest
from django.urls import reverse

from ingest.models import Project, Run, Test

KEPT = 12
_KEY = "recently_viewed"
_LONGEST = 200


@dataclass(frozen=True, slots=True)
class ViewedPage:
    """A test by its number or a run by its id: the address stays, whatever it is called later."""

    kind: str
    slug: str
    key: int
    label: str

    @property
    def address(self) -> str:
        return reverse(self.kind, args=(self.slug, self.key))


def note_test(request: HttpRequest, project: Project, test: Test) -> None:
    _note(request, ViewedPage("test", project.slug, test.number, test.name[:_LONGEST]))


def note_run(request: HttpRequest, project: Project, run: Run) -> None:
    where = f" on {run.branch}" if run.branch else ""
    _note(request, ViewedPage("run", project.slug, run.pk, f"Run {run.pk}{where}"[:_LONGEST]))


def recently_viewed(request: HttpRequest, slugs: Sequence[str] | None = None) -> list[ViewedPage]:
    """The pages viewed recently, newest first, of these projects or of all."""
    kept = [_read(entry) for entry in request.session.get(_KEY, [])]
    return [page for page in kept if page is not None and (slugs is None or page.slug in slugs)]


def _note(request: HttpRequest, viewed: ViewedPage) -> None:
    """Move the page to the front of the list, and write only if that changes it."""
    new = [viewed.kind, viewed.slug, viewed.key, viewed.label]
    kept = request.session.get(_KEY, [])
    if not kept or kept[0] != new:
        request.session[_KEY] = [new, *(entry for entry in kept if entry[:3] != new[:3])][:KEPT]


def _read(stored: Any) -> ViewedPage | None:
    kind, slug, key, label = stored
    return ViewedPage(kind, slug, key, label) if kind in ("test", "run") else None
