"""Every task. Thin: load by id, call one service, end. A task may run twice or never; the sweep sees to the rest."""

import logging

from celery import Task
from django.conf import settings
from django.utils import timezone

from analytics import refreshing
from analytics.reach.services import touched_note
from analytics.why import services as differences
from dashboard.celery import app
from dashboard.demo import decisions
from dashboard.demo import services as demo
from dashboard.notify import deliveries, digests, experiments, fan_out, quiet_deliveries
from dashboard.notify.alerts import decisions as alerts
from dashboard.notify.alerts import uploads as upload_alerts
from dashboard.notify.pulls import services as pulls
from dashboard.notify.tickets import watch
from dashboard.ops import logs
from dashboard.people import sessions
from dashboard.people.throttling import Rate, take
from dashboard.quarantine import expiry, fix_places, fixes, renames
from dashboard.quarantine.policy import service as policy
from dashboard.retention import deletion, quotas
from dashboard.retention import services as retention
from dashboard.retention.ages import sessions_cutoff
from ingest import processing
from ingest.models import Project

logger = logging.getLogger(__name__)
_DEMO_RATE = Rate(1, 300)
"""A load of the demo that was cut short is begun again once in five minutes at most."""
_KEEPING_SECONDS = 30
_LONGEST_COUNTDOWN = 60.0
"""What is due later than this a sweep finds as soon; brokers hand out again what a worker holds for long."""
_CLOCKS_DIFFER = 0.05
"""Seconds by which a countdown may end too early for the database's clock."""
_COMPARING_SECONDS = 45
_TICKETS_SECONDS = 60
"""What nobody followed before the next sweep is handed out again."""


@app.task(name="uploads.process")
def process_upload(upload_id: int) -> None:
    """Woken for one upload, a worker does the one whose turn it is."""
    claim = processing.upload_claim_in_turn(woken_for=upload_id, put_back=wake_worker)
    if claim is None:
        return
    logs.note(upload=claim.key)
    if upload := processing.upload_process_claimed(claim=claim):
        logger.info("the upload is finished")
        quotas.cases_count(upload=upload)
        renames.renames_certain_settle(project_id=upload.project_id)
        refresh_soon(upload.project_id)
        if upload.trace_set.exists():
            _wake(compare_traces, upload.project_id, "the traces")
        if upload.run is not None:
            touched_note(run=upload.run)
            pulls.pull_report_ask(run=upload.run)
        if upload.experiment is not None:
            experiments.conclude(upload.experiment)


@app.task(name="uploads.sweep")
def sweep_uploads() -> None:
    for upload_id in processing.uploads_sweep():
        process_upload.delay(upload_id)


@app.task(name="analyses.refresh")
def refresh_analysis(project_id: int) -> None:
    if refreshing.refresh_run(project_id=project_id) is not None:
        pulls.pull_reports_ask_again(project_id=project_id)
        _wake(decide_alerts, project_id, "alerts")
        _wake(apply_policy, project_id, "the policy, after the next analysis")
        if refreshing.is_due(project_id=project_id):  # whoever was woken for it found this one running
            _wake(refresh_analysis, project_id, "the analysis")


@app.task(name="policies.apply")
def apply_policy(project_id: int) -> None:
    if decisions.demo_decide(project_id=project_id):
        _wake(refresh_analysis, project_id, "the analysis")
        return  # the policy is asked after that one
    if decisions.demo_undecided(project_id=project_id):
        return
    fixes.fixes_confirm(project_id=project_id)
    fix_places.fixes_locate(project_id=project_id)
    policy.policy_apply(project_id=project_id)


@app.task(name="quarantines.expire")
def expire_quarantines() -> None:
    expiry.quarantines_expire()


@app.task(name="notifications.sweep")
def sweep_notifications() -> None:
    fan_out.notifications_spread()
    quiet_deliveries.held_deliveries_release()
    for delivery_id in deliveries.deliveries_due():
        # One that nobody took before the next sweep is handed out again.
        send_delivery.apply_async((delivery_id,), expires=settings.SWEEP_SECONDS)


@app.task(name="alerts.sweep")
def sweep_alerts() -> None:
    upload_alerts.upload_errors_alert()
    upload_alerts.silences_alert()
    for project_id in alerts.projects_due():
        decide_alerts.apply_async((project_id,), expires=settings.SWEEP_SECONDS)


@app.task(name="alerts.decide")
def decide_alerts(project_id: int) -> None:
    alerts.alerts_decide(project_id=project_id)


@app.task(name="deliveries.send")
def send_delivery(delivery_id: int) -> None:
    deliveries.delivery_send(delivery_id=delivery_id)


@app.task(name="tickets.sweep")
def sweep_tickets() -> None:
    for quarantine_id in watch.tickets_due():
        follow_ticket.apply_async((quarantine_id,), expires=_TICKETS_SECONDS)


@app.task(name="tickets.follow")
def follow_ticket(quarantine_id: int) -> None:
    watch.ticket_follow(quarantine_id=quarantine_id)


@app.task(name="pulls.sweep")
def sweep_pulls() -> None:
    for report_id in pulls.pull_reports_due():
        write_pull.apply_async((report_id,), expires=settings.SWEEP_SECONDS)


@app.task(name="pulls.write")
def write_pull(report_id: int) -> None:
    pulls.pull_report_write(report_id=report_id)


@app.task(name="digests.sweep")
def sweep_digests() -> None:
    for project_id in digests.digests_due():
        digests.digest_make(project_id=project_id)


@app.task(name="keeping.sweep")
def sweep_keeping() -> None:
    """For half of the time until the next one, so that messages to people are not held up."""
    enough = retention.after(_KEEPING_SECONDS)
    deletion.deletion_sweep(enough=enough)
    retention.retention_sweep(enough=enough)
    retention.audit_forget()
    sessions.sessions_forget(before=sessions_cutoff(timezone.now()))


@app.task(name="analyses.sweep")
def sweep_analyses() -> None:
    refreshing.refreshes_hopeless_free()
    _resume_demo()  # before an analysis of a part of it is asked for
    refreshing.refreshes_missed_ask()
    experiments.conclude_missed()
    for project_id in refreshing.refreshes_due():
        refresh_analysis.delay(project_id)
    for project_id in differences.projects_with_differences_due():
        # What nobody began before the next sweep is handed out again.
        compare_traces.apply_async((project_id,), expires=settings.SWEEP_SECONDS)


def _resume_demo() -> None:
    """Go on with a demo that a restart cut short: with its load, or with what follows the analysis of all of it."""
    project = decisions.demo_cut_short()
    if project is not None and not take("demo", project.pk, _DEMO_RATE):
        _wake(apply_policy if demo.demo_loaded(project) else load_demo, project.pk, "the demo")


@app.task(name="traces.compare")
def compare_traces(project_id: int) -> None:
    """For a while: what is left the sweep finds again."""
    differences.differences_refresh(project_id=project_id, enough=retention.after(_COMPARING_SECONDS))


@app.task(name="demo.load")
def load_demo(project_id: int) -> None:
    demo.demo_load(project_id=project_id)
    _wake(refresh_analysis, project_id, "the analysis")


def wake_worker(upload_id: int) -> None:
    """Tell a worker of an upload. Where the broker is away the sweep will find it: nothing is lost, only later."""
    logs.note(upload=upload_id)
    _wake(process_upload, upload_id, f"upload {upload_id}")


def refresh_soon(project_id: int) -> None:
    """Ask for a project's analysis after its uploads, and have a worker woken when it is due."""
    seconds = refreshing.refresh_ask(project_id=project_id)
    if seconds is not None and seconds <= _LONGEST_COUNTDOWN:
        _wake(refresh_analysis, project_id, "the analysis", countdown=seconds + _CLOCKS_DIFFER)


def refresh_now(project: Project) -> None:
    """Ask for a project's analysis without delay, and tell a worker."""
    refreshing.refresh_ask(project_id=project.pk, delay=0)
    _wake(refresh_analysis, project.pk, "the analysis")


def wake_demo(project_id: int) -> None:
    _wake(load_demo, project_id, "the demo")


def _wake(task: Task, argument: int, what: str, countdown: float | None = None) -> None:
    """Each broker has errors of its own, and what there is to do is stored by now: none may become the answer to it."""
    try:
        task.delay(argument) if countdown is None else task.apply_async((argument,), countdown=countdown)
    except Exception as error:
        logger.warning("the broker cannot be reached (%s); the sweep will pick up %s", _line(error), what)


def _line(error: Exception) -> str:
    return " ".join(str(error).split()) or type(error).__name__
