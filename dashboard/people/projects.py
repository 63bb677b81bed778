"""Projects as people make and change them: whoever makes one administers it."""

from typing import Any

from django.contrib.auth.models import User
from django.db import transaction

from dashboard.people.audit import audit
from dashboard.people.members import member_add
from dashboard.people.models import Role
from ingest.models import Project
from ingest.services import project_create

CHANGEABLE = (
    *("name", "default_branch", "public", "failure_price", "minute_price", "currency"),
    *("experiment_commits", "experiment_days", "least_right", "repository_url"),
)


@transaction.atomic
def project_make(*, by: User, slug: str, name: str, default_branch: str = "main") -> Project:
    project = project_create(slug=slug, name=name, default_branch=default_branch)
    audit("project.made", project=project, target=slug, after={"name": name, "default_branch": default_branch})
    member_add(project=project, user=by, role=Role.ADMINISTRATOR)
    return project


@transaction.atomic
def project_change(*, project: Project, **changes: Any) -> None:
    """Set some of what can be set; nothing is written where nothing changes."""
    new = {name: changes[name] for name in CHANGEABLE if name in changes and changes[name] != getattr(project, name)}
    if not new:
        return
    before = {name: getattr(project, name) for name in new}
    for name, value in new.items():
        setattr(project, name, value)
    project.save(update_fields=tuple(new))
    audit("project.changed", project=project, target=project.slug, before=before, after=new)
