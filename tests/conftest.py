"""Factories and paths that tests share."""

import io
import os
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import settings as hypothesis_settings

from dashboard.static_files import collect
from ingest.bundle import BundleWriter
from ingest.metadata import RunMetadata
from ingest.models import Project, Report, Token, Upload
from ingest.processing import upload_process
from ingest.services import Body, project_create, token_create, upload_receive

hypothesis_settings.register_profile("unhurried", deadline=None)
hypothesis_settings.load_profile("unhurried")  # a busy machine is no failure

ROOT = Path(__file__).resolve().parent.parent
PRODUCERS = ROOT / "tests" / "data" / "producers"
DATA = Path(os.environ.get("FLAKEBOARD_DATA", ROOT.parent / "shared" / "data"))

needs_data = pytest.mark.skipif(not DATA.is_dir(), reason="the folder of real reports is not here")


def body_of(*files: bytes | tuple[str, bytes]) -> Body:
    """What the API would make of these files."""
    bundle = io.BytesIO()
    writer = BundleWriter(bundle.write)
    named = [file if isinstance(file, tuple) else (f"report{i}.xml", file) for i, file in enumerate(files)]
    size = sum(writer.add(name, iter([content])) for name, content in named)
    return Body(bundle, writer.digest(), size, len(files))


Send = Callable[..., Upload]


@pytest.fixture(scope="session", autouse=True)
def static_files() -> None:
    """Pages name static files by their hash: collect them once, as `serve` does."""
    collect()


@pytest.fixture
def project(db: None) -> Project:
    return project_create(slug="shop", name="Shop")


@pytest.fixture
def upload_token(project: Project) -> str:
    return token_create(project=project, name="ci", scope=Token.Scope.UPLOAD)[1]


@pytest.fixture
def read_token(project: Project) -> str:
    return token_create(project=project, name="reader", scope=Token.Scope.READ)[1]


@pytest.fixture
def send(project: Project) -> Send:
    """Receive and process files as one upload: send(b"<testsuite/>", build_id="1")."""

    def send_files(*files: bytes | tuple[str, bytes], to: Project | None = None, **metadata: object) -> Upload:
        upload, _ = upload_receive(project=to or project, body=body_of(*files), metadata=RunMetadata(**metadata))
        upload_process(upload_id=upload.pk)
        upload.refresh_from_db()
        return upload

    return send_files


def report_of(upload: Upload) -> Report:
    return Report.objects.get(upload=upload)
