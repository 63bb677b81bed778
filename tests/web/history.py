"""A project's runs written out: who fails when, sent as CI would send them."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import partial

import pytest

from analytics.services import analysis_refresh
from ingest.models import Project, Run
from ingest.services import project_create
from tests.conftest import Send, send_files
from tests.furnished import FurnishedDatabases
from tests.web.test_pages import failing, passing, report

BEGAN = datetime(2026, 3, 2, 8, tzinfo=UTC)


def sent(send: Send, hour: int, fails: dict[str, str], passes: str = "", **metadata: object) -> Run:
    """A run that began so many hours after the first; `fails` has the words of each failing test."""
    cases = [failing(name, words, words) for name, words in fails.items()] + [passing(name) for name in passes.split()]
    facts = {"build_id": f"b{hour}", "branch": "main", "commit": f"{hour:04d}" + "c" * 36} | metadata
    upload = send(report(*cases), started_at=BEGAN + timedelta(hours=hour), **facts)
    return Run.objects.get(pk=upload.run_id)


def flaky_history(send: Send) -> list[Run]:
    """Twelve runs of main at six commits: `flaky` contradicts itself at each third, `steady` and `calm` never fail."""
    runs = []
    for hour in range(12):
        bad = {"flaky": "the cart is empty"} if hour % 6 == 0 else {}
        good = "steady calm" if bad else "flaky steady calm"
        runs.append(sent(send, hour, bad, good, commit=f"{hour // 2:04d}" + "c" * 36, host=f"box-{hour % 2}"))
    return runs


@dataclass(frozen=True)
class Known:
    """A project in which `flaky` is known to be flaky."""

    project: Project
    runs: list[Run]


def make() -> Known:
    project = project_create(slug="shop", name="Shop")
    runs = flaky_history(partial(send_files, project))
    analysis_refresh(project=project)
    return Known(project, runs)


@pytest.fixture(scope="module")
def known_once(furnished_databases: FurnishedDatabases) -> Iterator[Known]:
    """Made once a process, for modules whose tests all know it: what a test changes is rolled back."""
    with furnished_databases.lend("known", make) as made:
        yield made


@pytest.fixture
def project(known_once: Known, db: None) -> Project:
    return Project.objects.get(pk=known_once.project.pk)


@pytest.fixture
def known(known_once: Known, project: Project) -> list[Run]:
    return known_once.runs
