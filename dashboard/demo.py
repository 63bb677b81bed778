"""The demo: a simulated project that shows every page, loaded the way CI loads one, and deleted by one click."""

import io
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import lru_cache

from django.contrib.auth.models import User
from django.db import IntegrityError, transaction

from analytics.refreshing import refresh_ask
from analytics.selectors import current_analysis
from analytics.simulate import DEMO, History, SimulatedUpload, simulate
from dashboard.people.auditing import audit
from dashboard.people.members import member_add
from dashboard.people.models import Role
from ingest.bundle import BundleWriter
from ingest.metadata import RunMetadata
from ingest.models import Project, Upload
from ingest.processing import upload_process
from ingest.services import Body, project_create, upload_receive

SLUG = "demo"


def demo_project() -> Project | None:
    return Project.objects.filter(demo=True).first()


def demo_create(*, by: User | None = None) -> Project:
    """The demo project, empty. There is one at most; whoever asks for it may delete it."""
    project = demo_project() or _new_demo()
    if by is not None:
        member_add(project=project, user=by, role=Role.ADMINISTRATOR)
    return project


def _new_demo() -> Project:
    try:
        with transaction.atomic():
            return project_create(slug=SLUG, name="Demo (simulated)", demo=True)
    except IntegrityError:  # two at once, or somebody's own project is called so
        return demo_project() or project_create(slug="flakeboard-demo", name="Demo (simulated)", demo=True)


def demo_load(*, project_id: int) -> None:
    """Send the demo's history, oldest first. Safe to run again: what is there already counts once."""
    project = Project.objects.filter(pk=project_id, demo=True).first()
    if project is None:
        return
    for upload in history(project.created_at).uploads():
        received = _receive(project, upload)
        if received.state in Upload.WAITING:
            upload_process(upload_id=received.pk)
        if not Project.objects.filter(pk=project_id).exists():
            return  # deleted while it was loading
    refresh_ask(project_id=project_id, delay=0)


def history(made_at: datetime) -> History:
    """The demo's history, so dated that it ends with the day before the project was made."""
    midnight = made_at.astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    return simulate(replace(DEMO, start=midnight - timedelta(days=DEMO.days)))


def _receive(project: Project, upload: SimulatedUpload) -> Upload:
    with io.BytesIO() as bundle:
        writer = BundleWriter(bundle.write)
        size = sum(writer.add(name, iter([content])) for name, content in upload.files)
        body = Body(bundle, writer.digest(), size, len(upload.files))
        received, _ = upload_receive(project=project, body=body, metadata=RunMetadata.from_json(upload.metadata))
    return received


def demo_progress(project: Project) -> tuple[int, int] | None:
    """Runs loaded and runs in all, while it is loading; None once it is analysed."""
    if current_analysis(project.pk) is not None:
        return None
    done = Upload.objects.filter(project=project, state=Upload.State.PROCESSED).count()
    total = _runs(project.created_at)
    return min(done, total), total


@lru_cache(maxsize=4)
def _runs(made_at: datetime) -> int:
    return len(history(made_at).reports)


def demo_delete(*, project: Project) -> None:
    """Delete the demo and all of its data."""
    if not project.demo:
        raise ValueError("only the demo is deleted this way")
    audit("project.deleted", project=project, target=project.slug)
    project.delete()
