"""The demo: a simulated project that shows every page, loaded the way CI loads one, and deleted by one click."""

import io
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from functools import lru_cache

from django.contrib.auth.models import User
from django.db import IntegrityError, transaction

from analytics.refreshing import refresh_ask
from analytics.selectors import current_analysis
from analytics.simulation import DEMO, History, SimulatedUpload, simulate
from dashboard.demo.experiment import demo_experiment
from dashboard.demo.traces import demo_traces
from dashboard.people.audit import audit
from dashboard.people.members import member_add
from dashboard.people.models import Role
from ingest.bundle import BundleWriter
from ingest.metadata import RunMetadata
from ingest.models import Project, Upload
from ingest.processing import upload_process
from ingest.services import Body, project_create, upload_receive

SLUG = "demo"
_REPOSITORY = "https://git.example/shop/shop"


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
    Project.objects.filter(pk=project_id, repository_url="").update(repository_url=_REPOSITORY)
    for upload in history(project.created_at).uploads():
        received = _receive(project, upload)
        if received.state in Upload.WAITING:
            upload_process(upload_id=received.pk)
        if not Project.objects.filter(pk=project_id).exists():
            return  # deleted while it was loading
    demo_experiment(project, history(project.created_at))
    demo_traces(project, history(project.created_at))
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
        metadata = RunMetadata.from_json(upload.metadata)
        received, _ = upload_receive(project=project, body=body, metadata=metadata, stated_at=metadata.started_at)
    return received


def demo_loaded(project: Project) -> bool:
    """Whether the analysis that pages read has all of the demo's runs: one that began meanwhile saw some of them."""
    analysis = current_analysis(project.pk)
    if analysis is None:
        return False
    runs, last = _extent(project.created_at)
    if analysis.until is None:
        return _runs_loaded(project) >= runs  # retention has removed their reports since
    return analysis.until >= last


@dataclass(frozen=True, slots=True)
class DemoProgress:
    runs: int
    """Loaded so far."""
    total: int
    analysed: bool

    @property
    def sentence(self) -> str:
        if self.runs < self.total:
            return f"Step 1 of 3: loading simulated runs, {self.runs} of {self.total}. Pages fill while it goes on."
        if not self.analysed:
            return f"Step 2 of 3: all {self.total} runs are loaded; analysing them."
        return "Step 3 of 3: adding a team's quarantine decisions and analysing once more."

    @property
    def steps(self) -> int:
        """Loading takes longest: the two steps after it count as an eighth of its runs each."""
        return self.total + 2 * self._step

    @property
    def done(self) -> int:
        return self.runs + (self._step if self.analysed else 0)

    @property
    def _step(self) -> int:
        return max(self.total // 8, 1)


def demo_progress(project: Project, *, settled: bool = True) -> DemoProgress | None:
    """How far the demo is loaded; None once all runs are analysed, and it is `settled`."""
    analysed = demo_loaded(project)
    if settled and analysed:
        return None
    total, _ = _extent(project.created_at)
    return DemoProgress(min(_runs_loaded(project), total), total, analysed)


def _runs_loaded(project: Project) -> int:
    return Upload.objects.filter(project=project, experiment=None, state=Upload.State.PROCESSED).count()


@lru_cache(maxsize=4)
def _extent(made_at: datetime) -> tuple[int, datetime]:
    """How many runs the demo has, and when the last of them started: they are loaded oldest first."""
    reports = history(made_at).reports
    return len(reports), datetime.fromtimestamp(reports[-1].started, UTC)


def demo_delete(*, project: Project) -> None:
    """Delete the demo and all of its data."""
    if not project.demo:
        raise ValueError("only the demo is deleted this way")
    audit("project.deleted", project=project, target=project.slug)
    project.delete()
