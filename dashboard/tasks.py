"""Every task. Thin: load by id, call one service, end. A task may run twice or never; the sweep sees to the rest."""

import logging

from dashboard.celery import app
from ingest import processing

logger = logging.getLogger(__name__)


@app.task(name="uploads.process")
def process_upload(upload_id: int) -> None:
    processing.upload_process(upload_id=upload_id)


@app.task(name="uploads.sweep")
def sweep_uploads() -> None:
    for upload_id in processing.uploads_sweep():
        process_upload.delay(upload_id)


def wake_worker(upload_id: int) -> None:
    """Tell a worker of an upload. Where the broker is away the sweep will find it: nothing is lost, only later.

    Each broker has errors of its own, and the upload is stored by now: none of them may become the answer to it."""
    try:
        process_upload.delay(upload_id)
    except Exception as error:
        logger.warning("the broker cannot be reached (%s); the sweep will pick up upload %s", _line(error), upload_id)


def _line(error: Exception) -> str:
    return " ".join(str(error).split()) or type(error).__name__
