"""Factories and paths that tests share."""

import io
import os
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import pytest
from django.conf import settings as django_settings
from django.db import connection
from django.test import override_settings
from hypothesis import settings as hypothesis_settings
from hypothesis.internal.conjecture import providers as hypothesis_providers

from ingest.bundle import BundleWriter
from ingest.metadata import RunMetadata
from ingest.models import Project, Report, Token, Upload
from ingest.processing import upload_process
from ingest.services import Body, project_create, token_create, upload_receive
from tests.furnished import furnished_databases
from tests.homes import collect_static, static_files_looked_up_once
from tests.paths import DATA, PRODUCERS, ROOT, needs_data
from tests.transactions import _django_db_helper, nothing_committed, requests_within_test

__all__ = [
    "DATA",
    "PRODUCERS",
    "ROOT",
    "_django_db_helper",
    "furnished_databases",
    "needs_data",
    "nothing_committed",
    "requests_within_test",
]

hypothesis_settings.register_profile("suite", deadline=None, derandomize=True, database=None)
hypothesis_settings.register_profile("search", deadline=None)
# The suite tries the same examples every time, in whatever time it takes; a search by hand tries others.
hypothesis_settings.load_profile("search" if os.environ.get("EXAMPLES") else "suite")
if not os.environ.get("EXAMPLES"):
    # Examples also come from constants in every module that is loaded by then: others after other tests, and seconds of
    # reading in every process.
    hypothesis_providers._get_local_constants = lambda: hypothesis_providers._local_constants


def body_of(*files: bytes | tuple[str, bytes]) -> Body:
    """What the API would make of these files."""
    bundle = io.BytesIO()
    writer = BundleWriter(bundle.write)
    named = [file if isinstance(file, tuple) else (f"report{i}.xml", file) for i, file in enumerate(files)]
    size = sum(writer.add(name, iter([content])) for name, content in named)
    return Body(bundle, writer.digest(), size, len(files))


Send = Callable[..., Upload]


@pytest.fixture(scope="session", autouse=True)
def static_files() -> Iterator[None]:
    """Pages name static files by their hash: collect them, as `serve` does."""
    collect_static(Path(django_settings.STATIC_ROOT))
    with static_files_looked_up_once():
        yield


@pytest.fixture(scope="session")
def django_db_modify_db_settings(django_db_modify_db_settings_parallel_suffix: None) -> None:
    """The embedded database is migrated already: that of the tests is a copy of it."""
    if django_settings.EMBEDDED:
        connection.settings_dict["TEST"]["TEMPLATE"] = connection.settings_dict["NAME"]


@pytest.fixture(scope="session", autouse=True)
def quick_hashing() -> Iterator[None]:
    """Argon2 costs a quarter of a second by design, and most tests only need somebody to sign in."""
    quick = "django.contrib.auth.hashers.MD5PasswordHasher"
    with override_settings(PASSWORD_HASHERS=[quick, *django_settings.PASSWORD_HASHERS]):
        yield


@pytest.fixture
def project(db: None) -> Project:
    return project_create(slug="shop", name="Shop")


@pytest.fixture
def upload_token(project: Project) -> str:
    return token_create(project=project, name="ci", scope=Token.Scope.UPLOAD)[1]


@pytest.fixture
def read_token(project: Project) -> str:
    return token_create(project=project, name="reader", scope=Token.Scope.READ)[1]


def send_files(
    project: Project, *files: bytes | tuple[str, bytes], to: Project | None = None, **metadata: object
) -> Upload:
    """Receive and process files as one upload.

    With a start it is of the past, as an import is: our clock would place it now."""
    run_metadata = RunMetadata(**metadata)
    upload, _ = upload_receive(
        project=to or project, body=body_of(*files), metadata=run_metadata, stated_at=run_metadata.started_at
    )
    upload_process(upload_id=upload.pk)
    upload.refresh_from_db()
    return upload


@pytest.fixture
def send(project: Project) -> Send:
    """send(b"<testsuite/>", build_id="1")."""
    return partial(send_files, project)


@pytest.fixture
def worker(monkeypatch: pytest.MonkeyPatch) -> None:
    """What the gate is sent is processed when a worker is woken, and not by another process."""
    wake = lambda upload_id: upload_process(upload_id=upload_id)  # noqa: E731
    monkeypatch.setattr("dashboard.api.quarantine.gate.wake_worker", wake)


def report_of(upload: Upload) -> Report:
    return Report.objects.get(upload=upload)
