"""A small simulated project, loaded as CI would and analysed, with hostile names among its tests.

`tests/web/conftest.py` offers it as the fixture `demo`: made once a process, what a test changes is rolled back."""

import copy
from collections.abc import Iterator
from dataclasses import dataclass, replace
from html import escape

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from analytics.models import Analysis
from analytics.services import analysis_refresh
from analytics.simulation import History, Kind, Settings, simulate
from ingest.metadata import RunMetadata
from ingest.models import Project, Test, Token
from ingest.processing import upload_process
from ingest.services import project_create, token_create, upload_receive
from tests.api_client import Program
from tests.conftest import body_of
from tests.furnished import FurnishedDatabases
from tests.people.signed_in import browser_of

SETTINGS = Settings(
    seed=11,
    tests=60,
    suites=5,
    days=16,
    commits_a_day=1.6,
    hosts=3,
    shuffled_share=0.4,
    orders=4,
    flakes={
        Kind.INDEPENDENT: 4,
        Kind.BURSTY: 2,
        Kind.VICTIM: 1,
        Kind.CLUSTER: 3,
        Kind.ASYNC: 1,
        Kind.ENVIRONMENT: 1,
    },
    lowest_rate=0.03,
    highest_rate=0.25,
    fixed_flakes=1,
    new_flakes=1,
    regressions=2,
    platform_regressions=0,
    pull_request_regressions=1,
    incidents=1,
    renames=0,
    new_tests=2,
    skipped_tests=3,
)
HOSTILE = (
    "test_<script>alert('x')</script>",
    "test_\"quoted\" & 'single'",
    "test_\u202eright to left\u2069 \U0001f980",
    '=HYPERLINK("http://evil.example")',
    "test_long_" + "x" * 3_990,
)
"""Names of flaky tests, in place of the simulated ones."""


@dataclass(frozen=True)
class Demo:
    """The project, its analysis, and what is true of it."""

    project: Project
    analysis: Analysis
    history: History
    read_token: str

    def number(self, name: str) -> int:
        return Test.objects.get(project=self.project, name=name).number

    def at(self, page: str, *args: object) -> str:
        """The address of one of its pages."""
        return reverse(page, args=(self.project.slug, *args))

    @property
    def api(self) -> Program:
        """A program that reads its API."""
        return Program(self.read_token, self.project.slug)


def _renamed(history: History) -> dict[bytes, bytes]:
    """`name="..."` of some flaky tests -> the same with a hostile name."""
    flaky = sorted(history.truth.flakes)[: len(HOSTILE)]
    attribute = 'name="{}"'.format
    return {
        attribute(history.names[number][2]).encode(): attribute(escape(hostile)).encode()
        for number, hostile in zip(flaky, HOSTILE, strict=True)
    }


def _load(project: Project, history: History) -> None:
    hostile = _renamed(history)
    for upload in history.uploads():
        files = []
        for path, content in upload.files:
            for simulated, name in hostile.items():
                content = content.replace(simulated, name)
            files.append((path, content))
        metadata = RunMetadata.from_json(upload.metadata)
        received, _ = upload_receive(
            project=project, body=body_of(*files), metadata=metadata, stated_at=metadata.started_at
        )
        upload_process(upload_id=received.pk)


def make(slug: str = "sim", settings: Settings = SETTINGS) -> Demo:
    project = project_create(slug=slug, name="Simulated")
    history = simulate(settings)
    _load(project, history)
    _, token = token_create(project=project, name="reader", scope=Token.Scope.READ)
    return Demo(project, analysis_refresh(project=project), history, token)


@pytest.fixture(scope="module")
def committed_demo(furnished_databases: FurnishedDatabases) -> Iterator[Demo]:
    with furnished_databases.lend("demo", make) as made:
        yield made


@pytest.fixture
def demo(committed_demo: Demo, db: None, monkeypatch: pytest.MonkeyPatch) -> Demo:
    """The analysed project; an analysis that a test asks for is noted and not run."""
    monkeypatch.setattr("dashboard.tasks.refresh_analysis.delay", lambda project_id: None)
    return replace(committed_demo, project=copy.deepcopy(committed_demo.project))


@pytest.fixture
def reader(demo: Demo) -> Client:
    """A browser of somebody who sees every project that a test makes."""
    return browser_of(User.objects.create_superuser("robin", password="a-long-password"))
