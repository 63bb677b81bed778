"""Receives and processes uploads without HTTP, as a worker does."""

import io

from dashboard.celery import share_memory
from ingest.bundle import BundleWriter
from ingest.metadata import RunMetadata
from ingest.models import Project, Upload
from ingest.processing import upload_process
from ingest.services import Body, upload_receive


def become_worker() -> None:
    """Treat memory as a worker does once everything is loaded."""
    share_memory()


def receive(project: Project, files: list[tuple[str, bytes]], **metadata: object) -> Upload:
    bundle = io.BytesIO()
    writer = BundleWriter(bundle.write)
    size = sum(writer.add(name, iter([content])) for name, content in files)
    body = Body(bundle, writer.digest(), size, len(files))
    run_metadata = RunMetadata(**metadata)
    return upload_receive(project=project, body=body, metadata=run_metadata, stated_at=run_metadata.started_at)[0]


def process(upload: Upload) -> None:
    assert upload_process(upload_id=upload.pk)


def send(project: Project, files: list[tuple[str, bytes]], **metadata: object) -> None:
    process(receive(project, files, **metadata))
