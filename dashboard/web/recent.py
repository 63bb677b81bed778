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
class Viewed:
    """A test by its number or a run by its id: the address stays, whatever it is called later."""

    kind: str
    slug: str
    key: int
    label: str

    @property
    def address(self) -> str:
        return reverse(self.kind, args=(self.slug, self.key))


def note_test(request: HttpRequest, project: Project, test: Test) -> None:
    _note(request, Viewed("test", project.slug, test.number, test.name[:_LONGEST]))


def note_run(request: HttpRequest, project: Project, run: Run) -> None:
    where = f" on {run.branch}" if run.branch else ""
    _note(request, Viewed("run", project.slug, run.pk, f"Run {run.pk}{where}"[:_LONGEST]))


def recently_viewed(request: HttpRequest, slugs: Sequence[str] | None = None) -> list[Viewed]:
    """Newest first; only of these projects where they are given."""
    kept = [_read(one) for one in request.session.get(_KEY, [])]
    return [one for one in kept if one is not None and (slugs is None or one.slug in slugs)]


def _note(request: HttpRequest, viewed: Viewed) -> None:
    """To the front of the list. What is there already is not written again."""
    new = [viewed.kind, viewed.slug, viewed.key, viewed.label]
    kept = request.session.get(_KEY, [])
    if not kept or kept[0] != new:
        request.session[_KEY] = [new, *(one for one in kept if one[:3] != new[:3])][:KEPT]


def _read(stored: Any) -> Viewed | None:
    kind, slug, key, label = stored
    return Viewed(kind, slug, key, label) if kind in ("test", "run") else None
