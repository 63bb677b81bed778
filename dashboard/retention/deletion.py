"""A project and all that is its own goes: hidden at once, deleted a few rows at a time.

Which rows those are is read off the models: whatever has a way to a project that ends with it."""

from dataclasses import dataclass
from functools import lru_cache
from graphlib import TopologicalSorter
from typing import Any

from django.apps import apps
from django.db import IntegrityError, models, transaction
from django.utils import timezone

from analytics.models import Refresh
from dashboard.people.audit import audit
from dashboard.people.models import AuditEntry, Invitation
from dashboard.retention.services import Enough, never
from ingest.leases import FREE
from ingest.models import Project, Token, Upload

_CHUNK = 500
_ASKED = "project.deletion_asked"
Model = type[models.Model]


# -- asked for ---------------------------------------------------------------------------------------------------


@transaction.atomic
def deletion_ask(*, project: Project) -> None:
    """Hide a project from everybody, and shut its doors; its slug is free for another from now on."""
    now = timezone.now()
    marked = Project.objects.filter(pk=project.pk)
    audit(_ASKED, project=project, target=project.slug, before={"name": project.name})
    Token.objects.filter(project=project, revoked_at=None).update(revoked_at=now)
    Invitation.objects.filter(project=project, revoked_at=None).update(revoked_at=now)
    Refresh.objects.filter(project=project).delete()
    Upload.objects.filter(project=project, state__in=Upload.WAITING).update(
        **FREE, state=Upload.State.FAILED, finished_at=now
    )
    marked.update(deleting_at=now, public=False, slug=f"{project.pk}~deleted")  # no address has a tilde in its slug


def deletion_sweep(*, enough: Enough) -> None:
    for project in Project.all_objects.exclude(deleting_at=None).order_by("deleting_at"):
        deletion_run(project=project, enough=enough)
        if enough():
            return


def deletion_run(*, project: Project, enough: Enough = never) -> bool:
    """Delete what is left of it. False where the time was over, or a worker still wrote to it: there is a next time."""
    slug = AuditEntry.objects.filter(project=project, action=_ASKED).values_list("project_slug", flat=True).last()
    try:
        for owned in owned_models():
            while _forgotten(owned, project.pk) or _deleted(owned, project.pk):
                if enough():
                    return False
        with transaction.atomic():
            Project.all_objects.filter(pk=project.pk)._raw_delete("default")
            audit("project.deleted", target=slug or project.name)
    except IntegrityError:
        return False
    return True


def _forgotten(owned: "OwnedModel", project_id: int) -> int:
    """What stays, and only named the project or something of it, names it no more."""
    for field in owned.named_by:
        rows = field.model._base_manager.filter(
            **{f"{field.name}__{owned.path}" if owned.path else field.name: project_id}
        )
        ids = list(rows.values_list("pk", flat=True)[:_CHUNK])
        if ids:
            return int(field.model._base_manager.filter(pk__in=ids).update(**{field.name: None}))
    return 0


def _deleted(owned: "OwnedModel", project_id: int) -> int:
    if not owned.path:
        return 0
    every = owned.model._base_manager
    with transaction.atomic():
        ids = list(every.filter(**{owned.path: project_id}).order_by().values_list("pk", flat=True)[:_CHUNK])
        for field in owned.selves:
            every.filter(**{f"{field.name}__in": ids}).update(**{field.name: None})
        every.filter(pk__in=ids)._raw_delete("default")
    return len(ids)


# -- what belongs to a project -----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class OwnedModel:
    """A model whose rows belong to projects."""

    model: Model
    path: str
    """From its rows to the project, as a filter; empty for the project itself."""
    selves: tuple[Any, ...]
    """Its foreign keys to itself."""
    named_by: tuple[Any, ...]
    """Foreign keys to it of models that belong to no project."""


@lru_cache(maxsize=1)
def owned_models() -> tuple[OwnedModel, ...]:
    """In an order in which each can be emptied: whatever points to a model comes before it; the project is the last."""
    paths = _paths()
    before = {
        model: {field.model for field in _foreign_keys_to(model) if field.model in paths and field.model is not model}
        for model in paths
    }
    ordered = TopologicalSorter(before).static_order()
    return tuple(_owned(model, paths) for model in ordered)


def _paths() -> dict[Model, str]:
    """Model -> the shortest way to its project along rows that go together."""
    found: dict[Model, str] = {Project: ""}
    front: list[Model] = [Project]
    while front:
        here = front.pop(0)
        for field in _foreign_keys_to(here):
            if field.remote_field.on_delete is models.CASCADE and field.model not in found:
                found[field.model] = f"{field.name}__{found[here]}".removesuffix("__")
                front.append(field.model)
    return found


def _owned(model: Model, paths: dict[Model, str]) -> OwnedModel:
    keys = _foreign_keys_to(model)
    return OwnedModel(
        model,
        paths[model],
        selves=tuple(field for field in keys if field.model is model),
        named_by=tuple(field for field in keys if field.model not in paths),
    )


def _foreign_keys_to(target: Model) -> list[Any]:
    every = (field for model in apps.get_models(include_auto_created=True) for field in model._meta.local_fields)
    return [field for field in every if isinstance(field, models.ForeignKey) and field.related_model is target]
