"""A project with ten green runs and one quarantined test, made once; each disguise is tried on it and rolled back."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import pytest
from django.db import transaction

from dashboard.quarantine.services import Terms, quarantine_create
from dashboard.quarantine.states import Action
from dashboard.retention.quotas import quotas_recount
from ingest.metadata import RunMetadata
from ingest.models import Project, Test, Token
from ingest.processing import upload_process
from ingest.services import project_create, token_create, upload_receive
from tests.api_client import committed_once
from tests.conftest import body_of
from tests.quarantine.conftest import ANNA
from tests.redteam.documents import TESTS, case

RUNS = 5


@dataclass(frozen=True)
class Shop:
    project: Project
    token: str


def send(project: Project, *files: bytes, **metadata: object) -> None:
    upload, _ = upload_receive(project=project, body=body_of(*files), metadata=RunMetadata(**metadata))
    upload_process(upload_id=upload.pk)


def _make() -> Shop:
    project = project_create(slug="shop", name="Shop")
    green = f"<testsuites><testsuite name='pytest'>{''.join(map(case, TESTS))}</testsuite></testsuites>".encode()
    for number in range(RUNS):
        send(project, green, build_id=f"old{number}", branch="main")
    tests = list(Test.objects.filter(project=project, name="test_03"))
    quarantine_create(project=project, tests=tests, actor=ANNA, terms=Terms(), action=Action.QUARANTINE)
    quotas_recount(project.pk)  # the first request would, and each row's is the first
    return Shop(project, token_create(project=project, name="ci", scope=Token.Scope.UPLOAD)[1])


@contextmanager
def undone() -> Iterator[None]:
    """What is sent for one row is not there for the next."""
    with transaction.atomic():
        yield
        transaction.set_rollback(True)


@pytest.fixture(scope="module")
def committed_shop(django_db_setup: None, django_db_blocker) -> Iterator[Shop]:
    with committed_once(django_db_blocker, _make) as made:
        yield made


@pytest.fixture
def shop(committed_shop: Shop, db: None, monkeypatch: pytest.MonkeyPatch) -> Shop:
    monkeypatch.setattr(
        "dashboard.api.quarantine.gate.wake_worker", lambda upload_id: upload_process(upload_id=upload_id)
    )
    return committed_shop
