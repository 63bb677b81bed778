"""What to alert people to after an analysis: decided once, under a lock, together with what was known before.

An alert is a notification with a unique key, and it is stored in the transaction that notes what it was decided on: a
worker that is killed has decided both or neither, and the sweep decides again."""

from collections.abc import Collection, Iterable
from datetime import datetime, timedelta

from django.db import transaction
from django.utils import timezone

from analytics.columns.codec import Columns
from analytics.columns.query import Choice, chosen_rows
from analytics.models import Analysis
from analytics.runs.incident_findings import incident_reports
from analytics.selectors import current_analyses, current_tests
from dashboard.notify.alerts.flaky_rate import channels_alert
from dashboard.notify.alerts.main_branch import MainState, main_state
from dashboard.notify.alerts.queue import PERIOD, next_due
from dashboard.notify.models import AlertWatch
from dashboard.quarantine.models import Notification
from dashboard.quarantine.services import notify
from ingest.models import Project

Kind = Notification.Kind
AGAIN = timedelta(days=7)
"""A test that turned flaky, or an incident, is not told again so soon after it was."""
NEWS = timedelta(days=2)
"""What is older is history that somebody sent, and nothing to be alerted to."""
_AT_ONCE = 200


def projects_due(*, now: datetime | None = None) -> list[int]:
    """Projects with an analysis that nothing was decided on, or with an alert that was put off until now."""
    now = now or timezone.now()
    decided = AlertWatch.objects.exclude(analysis=None).values("analysis")
    fresh = current_analyses().filter(project__deleting_at=None).exclude(pk__in=decided)
    put_off = AlertWatch.objects.filter(due_at__lte=now, project__deleting_at=None)
    found = [*fresh.values_list("project_id", flat=True), *put_off.values_list("project_id", flat=True)]
    return list(dict.fromkeys(found))[:_AT_ONCE]


def alerts_decide(*, project_id: int, now: datetime | None = None) -> None:
    """Decide on the current analysis. Asked again, nothing is new."""
    now = now or timezone.now()
    project = Project.objects.filter(pk=project_id).first()
    if project is None:
        return
    AlertWatch.objects.get_or_create(project=project)
    with transaction.atomic():
        watch = AlertWatch.objects.select_for_update().get(project=project)
        analysis, columns = current_tests(project_id)
        if analysis is not None:
            _decide(project, watch, analysis, columns, now)


def _decide(project: Project, watch: AlertWatch, analysis: Analysis, columns: Columns, now: datetime) -> None:
    flaky = _flaky(columns)
    incidents = set(incident_reports(analysis).values_list("report_id", flat=True))
    if watch.analysis is not None and watch.analysis != analysis.pk:
        _tell_flaky(project, analysis, flaky - set(watch.flaky), now)
        _tell_incidents(project, analysis, incidents - set(watch.incidents), now)
    watch.flaky, watch.incidents, watch.analysis, watch.due_at = sorted(flaky), sorted(incidents), analysis.pk, None
    _decide_main(project, watch, main_state(project, analysis, columns), now)
    channels_alert(project, analysis, now)
    watch.save()


def _flaky(columns: Columns) -> set[int]:
    rows = chosen_rows(columns, Choice(state="flaky"))
    return set(columns["number"][rows].tolist()) if len(rows) else set()


# -- flaky tests and incidents: what was not there before ---------------------------------------------------------


def _tell_flaky(project: Project, analysis: Analysis, new: Collection[int], now: datetime) -> None:
    tests = sorted(set(new) - _named_lately(project, Kind.NEW_FLAKY, "tests", now))
    if tests:
        _gather(project, Kind.NEW_FLAKY, analysis, {"tests": tests}, now)


def _tell_incidents(project: Project, analysis: Analysis, new: Collection[int], now: datetime) -> None:
    recent = incident_reports(analysis).filter(report__in=new, report__placed_at__gt=now - NEWS)
    reports = sorted(
        set(recent.values_list("report_id", flat=True)) - _named_lately(project, Kind.INCIDENT, "reports", now)
    )
    if reports:
        _gather(project, Kind.INCIDENT, analysis, {"reports": reports}, now)


def _named_lately(project: Project, kind: Kind, field: str, now: datetime) -> set[int]:
    rows = Notification.objects.filter(project=project, kind=kind, created_at__gt=now - AGAIN)
    lists: Iterable[list[int]] = rows.values_list(f"payload__{field}", flat=True)
    return {value for values in lists for value in values or ()}


def _gather(project: Project, kind: Kind, analysis: Analysis, payload: dict[str, list[int]], now: datetime) -> None:
    due_at = next_due(project.pk, kind, now)
    notify(project_id=project.pk, kind=kind, key=f"{kind}:{analysis.pk}", payload=payload, due_at=due_at)


# -- the default branch ------------------------------------------------------------------------------------------


def _decide_main(project: Project, watch: AlertWatch, main: MainState, now: datetime) -> None:
    """A break is told at once, but not within a period of the last one; that it is mended, at once."""
    if main.broken and watch.broken is None:
        _tell_broken(project, watch, main, now)
    elif main.whole and watch.broken is not None:
        _tell_mended(project, watch, watch.broken, main)


def _tell_broken(project: Project, watch: AlertWatch, main: MainState, now: datetime) -> None:
    run = main.broken[0].run
    if run.placed_at <= now - NEWS:
        return
    last = Notification.objects.filter(project=project, kind=Kind.MAIN_BROKEN).order_by("-created_at").first()
    if last is not None and last.created_at > now - PERIOD:
        watch.due_at = last.created_at + PERIOD
        return
    key = f"{Kind.MAIN_BROKEN}:{run.pk}:{last.pk if last is not None else 0}"
    payload = {"run": run.pk, "tests": main.tests, "errors": sum(judged.errors for judged in main.broken)}
    notify(project_id=project.pk, kind=Kind.MAIN_BROKEN, key=key, payload=payload)
    watch.broken = Notification.objects.get(project=project, key=key)


def _tell_mended(project: Project, watch: AlertWatch, broken: Notification, main: MainState) -> None:
    payload = {"run": main.newest.pk if main.newest else None, "broken": broken.pk, "since": broken.payload["run"]}
    notify(project_id=project.pk, kind=Kind.MAIN_MENDED, key=f"{Kind.MAIN_MENDED}:{broken.pk}", payload=payload)
    watch.broken = None
