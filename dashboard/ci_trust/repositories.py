"""Writes: repositories that a project trusts, and what it does with forks; each is in the audit log."""

from dataclasses import asdict, dataclass, field

from django.contrib.auth.models import User
from django.db import IntegrityError, transaction

from dashboard.ci_trust.models import ForkSettings, TrustedRepository
from dashboard.people.audit import audit
from ingest.models import Project


class AlreadyTrusted(Exception):
    """The project trusts this repository already."""


@dataclass(frozen=True, slots=True)
class TrustRequest:
    """A repository to trust, and how far."""

    provider: str
    issuer: str
    repository_id: str
    name: str = ""
    refs: list[str] = field(default_factory=list)
    environment: str = ""
    protected_only: bool = False
    scope: str = "upload"


def repository_trust(*, project: Project, wanted: TrustRequest, by: User | None = None) -> TrustedRepository:
    values = asdict(wanted)
    try:
        with transaction.atomic():
            made = TrustedRepository.objects.create(project=project, created_by=by, **values)
            audit("trust.given", project=project, target=_named(made), after=values)
    except IntegrityError as error:
        raise AlreadyTrusted from error
    return made


@transaction.atomic
def repository_distrust(*, repository: TrustedRepository) -> None:
    """From now on its tokens are refused. What it sent stays."""
    audit("trust.taken", project=repository.project, target=_named(repository), before={"scope": repository.scope})
    repository.delete()


@transaction.atomic
def repository_switch(*, repository: TrustedRepository, enabled: bool) -> None:
    if TrustedRepository.objects.filter(pk=repository.pk).exclude(enabled=enabled).update(enabled=enabled):
        switched = {"before": {"enabled": not enabled}, "after": {"enabled": enabled}}
        audit("trust.switched", project=repository.project, target=_named(repository), **switched)


def _named(repository: TrustedRepository) -> str:
    return f"{repository.name or repository.provider} ({repository.repository_id})"


# -- forks -------------------------------------------------------------------------------------------------------


def fork_mode(project_id: int) -> str:
    mode = ForkSettings.objects.filter(project_id=project_id).values_list("mode", flat=True).first()
    return mode or ForkSettings.Mode.OFF


@transaction.atomic
def fork_mode_set(*, project: Project, mode: str) -> None:
    before = fork_mode(project.pk)
    if mode != before:
        ForkSettings.objects.update_or_create(project=project, defaults={"mode": mode})
        audit("forks.set", project=project, before={"mode": before}, after={"mode": mode})
