"""Every task. Thin: load by id, call one service, end. A task may run twice or never; the sweep sees to the rest."""

import logging

from celery import Task

from analytics import refreshing
from dashboard import demo
from dashboard.celery import app
from dashboard.quarantine import applying, expiry
from ingest import processing
from ingest.selectors import upload_project

logger = logging.getLogger(__name__)


@app.task(name="uploads.process")
def process_upload(upload_id: int) -> None:
    if processing.upload_process(upload_id=upload_id):
        refreshing.refresh_ask(project_id=upload_project(upload_id))


@app.task(name="uploads.sweep")
def sweep_uploads() -> None:
    for upload_id in processing.uploads_sweep():
        process_upload.delay(upload_id)


@app.task(name="analyses.refresh")
def refresh_analysis(project_id: int) -> None:
    if refreshing.refresh_run(project_id=project_id) is not None:
        _wake(apply_policy, project_id, "the policy, after the next analysis")


@app.task(name="policies.apply")
def apply_policy(project_id: int) -> None:
    applying.policy_apply(project_id=project_id)


@app.task(name="quarantines.expire")
def expire_quarantines() -> None:
    expiry.quarantines_expire()


@app.task(name="analyses.sweep")
def sweep_analyses() -> None:
    refreshing.refreshes_hopeless_free()
    refreshing.refreshes_missed_ask()
    for project_id in refreshing.refreshes_due():
        refresh_analysis.delay(project_id)


@app.task(name="demo.load")
def load_demo(project_id: int) -> None:
    demo.demo_load(project_id=project_id)


def wake_worker(upload_id: int) -> None:
    """Tell a worker of an upload. Where the broker is away the sweep will find it: nothing is lost, only later."""
    _wake(process_upload, upload_id, f"upload {upload_id}")


def wake_analyst(project_id: int) -> None:
    """Tell a worker that an analysis is due now."""
    _wake(refresh_analysis, project_id, "the analysis")


def wake_demo(project_id: int) -> None:
    _wake(load_demo, project_id, "the demo")


def _wake(task: Task, argument: int, what: str) -> None:
    """Each broker has errors of its own, and what there is to do is stored by now: none may become the answer to it."""
    try:
        task.delay(argument)
    except Exception as error:
        logger.warning("the broker cannot be reached (%s); the sweep will pick up %s", _line(error), what)


def _line(error: Exception) -> str:
    return " ".join(str(error).split()) or type(error).__name__
